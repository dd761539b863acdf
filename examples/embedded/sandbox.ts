/** What the examples swap with: the sandbox of the default configuration, opened by a gateway of its own. Your program has a real provider. */
import { loadConfig, start } from 'swapgate'

const config = loadConfig(process.env.SWAPGATE_CONFIG ?? 'config/gateway.yaml')
const { server, admin, log } = config
const withSandboxOnly = {
  ...config,
  server: { ...server, port: 0 },
  admin: { ...admin, port: 0 },
  ledger: { ...config.ledger, url: 'sqlite:data/sandbox-of-examples.db' },
  log: { ...log, level: 'silent' as const },
}
try {
  const sandbox = await start(withSandboxOnly)
  process.once('SIGTERM', () => void sandbox.stop())
} catch (reason) {
  // That of `npm start` in another terminal will do.
  console.error(`no sandbox of its own: ${reason instanceof Error ? reason.message : String(reason)}`)
}
