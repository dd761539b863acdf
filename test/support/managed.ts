/** A gateway with issued keys before one provider of each form. */
import { type ProviderA, startFormA } from './form-a.ts'
import { type ProviderB, startFormB } from './form-b.ts'
import { type GatewaySettings, type StartedGateway, startGateway } from './gateway.ts'
import { digits } from './json.ts'
import { type Client, client, type FormName, pairWords } from './pair.ts'
import { assets } from './swaps.ts'
import { Witness } from './witness.ts'

export interface Managed extends AsyncDisposable {
  readonly gateway: StartedGateway
  /** Form A, named `alpha`; its own key is `provider-key-alpha`. */
  readonly alpha: ProviderA
  /** Form B, named `beta`; its own key is `provider-key-beta`. */
  readonly beta: ProviderB
  readonly witness: Witness
  readonly client: (form: FormName) => Client
  /** A key of a new account. */
  readonly issue: (name?: string) => Promise<string>
  /** Reads the configuration again with these in place of those at the start. */
  readonly reconfigure: (next: FileSettings) => void
  readonly close: () => Promise<void>
}

export const ownKeys = { alpha: 'provider-key-alpha', beta: 'provider-key-beta' }

interface FileSettings {
  /** The providers, in order. */
  readonly routing?: readonly string[] | undefined
  /** Replaces facts of the providers. */
  readonly providers?: Readonly<Record<string, object>> | undefined
  readonly sections?: GatewaySettings['sections'] | undefined
  readonly assetTable?: GatewaySettings['assetTable']
}

type ManagedSettings = Partial<Omit<GatewaySettings, 'provider' | 'others' | 'sections'>> &
  FileSettings & {
    /** The rig that this one goes on from, on the same ledger. */
    readonly follows?: Managed
  }

export async function startManaged({
  routing = ['alpha'],
  providers,
  sections,
  assetTable,
  follows,
  ...settings
}: ManagedSettings = {}): Promise<Managed> {
  const alpha = await startFormA()
  const beta = await startFormB()
  const fileSettings = ({ routing: names, providers: facts, sections: more, assetTable }: FileSettings) => ({
    ...(assetTable && { assetTable }),
    provider: { name: 'alpha', form: 'A', url: alpha.url, key: ownKeys.alpha, ...facts?.alpha },
    others: { beta: { form: 'B', url: beta.url, key: ownKeys.beta, ...facts?.beta } },
    sections: { auth: { mode: 'managed' }, routing: { providers: names ?? routing }, ...more },
  })
  const witness = new Witness({ providers: { alpha, beta }, providerKeys: ownKeys, follows: follows?.witness })
  const started = await startGateway({
    ...settings,
    ...fileSettings({ providers, sections, assetTable }),
  })
  const gateway = witness.over(started)
  let accounts = 0
  const close = async (): Promise<void> => {
    await witness.close()
    await gateway.close()
    await Promise.all([alpha.close(), beta.close()])
  }
  return {
    gateway,
    alpha,
    beta,
    witness,
    client: (form) => client(form, gateway.url, witness),
    issue: (name = `account-${++accounts}`) => gateway.issueKey(name),
    reconfigure: (next) => gateway.reconfigure(fileSettings(next)),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The body of a create in the words of the form. */
export function orderIn(form: FormName, facts: object = {}): object {
  return {
    ...pairWords(form, assets.btc, assets.usdtTrx),
    amount: digits('0.10'),
    withdrawalAddress: 'TWithdraw1',
    ...facts,
  }
}
