/** The operator's API and page, over the stores of this process. */
import { operatorRouter } from '../adapters/http/operator.ts'
import type { Config } from '../config/index.ts'
import type { Observer } from '../domain/observation.ts'
import { operatorApi } from '../operator/api.ts'
import { EventFeed, operatorPage } from '../operator/page.ts'
import type { OperatorParts } from '../operator/stores.ts'
import { TokenCheck } from '../operator/tokens.ts'
import { errorPrinter } from './ports.ts'
import { version } from './version.ts'

/** `stopping` ends the streams of events. */
export function openOperator(
  config: Config,
  parts: OperatorParts,
  observe: Observer,
  stopping: AbortSignal,
): ReturnType<typeof operatorRouter> {
  return operatorRouter({
    tokens: new TokenCheck({ tokens: () => parts.file().admin.tokens, clock: () => performance.now(), observe }),
    api: operatorApi(parts, version),
    events: new EventFeed(parts),
    page: operatorPage(),
    stopping,
    printError: errorPrinter(config),
  })
}
