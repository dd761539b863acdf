/** A gateway in passthrough mode with one provider of each form; the ledger is a file, so that it outlives a gateway. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ProviderA, startFormA } from './form-a.ts'
import { type ProviderB, startFormB } from './form-b.ts'
import { type GatewaySettings, type StartedGateway, startGateway } from './gateway.ts'
import { type Client, client, type FormName } from './pair.ts'
import { Witness } from './witness.ts'

export interface Passthrough extends AsyncDisposable {
  readonly gateway: StartedGateway
  readonly alpha: ProviderA
  readonly beta: ProviderB
  readonly witness: Witness
  /** The file of the ledger. */
  readonly file: string
  readonly client: (form: FormName) => Client
  /** Another process in place of this one, before the same providers and on the same ledger. `facts`: of alpha. */
  readonly restart: (routedTo?: 'alpha' | 'beta', facts?: object) => Promise<void>
  /** Reads the configuration again with these sections, and with these facts of the provider it routes to. */
  readonly reconfigure: (sections: object, facts?: object) => void
  /** One more beside it. */
  readonly second: () => Promise<StartedGateway>
}

/** `routedTo`: the one provider in `routing.providers`. `betaFacts`: of beta, throughout. */
export async function startPassthrough(
  routedTo: 'alpha' | 'beta',
  settings: Pick<GatewaySettings, 'ledgerLayer' | 'sections'> = {},
  betaFacts: object = {},
): Promise<Passthrough> {
  const [alpha, beta] = [await startFormA(), await startFormB()]
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-passthrough-'))
  const file = join(directory, 'ledger.db')
  const witness = new Witness({ providers: { alpha, beta } })
  const start = (name: 'alpha' | 'beta', facts: object = {}): Promise<StartedGateway> =>
    startGateway({
      ...settings,
      provider: { name: 'alpha', form: 'A', url: alpha.url, ...facts },
      others: { beta: { form: 'B', url: beta.url, ...betaFacts } },
      ledger: `sqlite:${file}`,
      sections: { routing: { providers: [name] }, ...settings.sections },
    })
  let routed = routedTo
  let gateway = witness.over(await start(routed))
  const more: StartedGateway[] = []
  return {
    get gateway() {
      return gateway
    },
    alpha,
    beta,
    witness,
    file,
    client: (form) => client(form, gateway.url, witness),
    reconfigure(sections, facts) {
      const [other, others] = routed === 'alpha' ? [facts, {}] : [{}, facts]
      gateway.reconfigure({
        provider: { name: 'alpha', form: 'A', url: alpha.url, ...other },
        others: { beta: { form: 'B', url: beta.url, ...betaFacts, ...others } },
        sections: { routing: { providers: [routed] }, ...settings.sections, ...sections },
      })
    },
    async restart(to = routed, facts) {
      await gateway.close()
      routed = to
      gateway = witness.over(await start(routed, facts))
    },
    async second() {
      const another = await start(routed)
      more.push(another)
      return another
    },
    async [Symbol.asyncDispose]() {
      await witness.close()
      await Promise.all([gateway, ...more].map(({ close }) => close()))
      await Promise.all([alpha.close(), beta.close()])
      rmSync(directory, { recursive: true })
    },
  }
}
