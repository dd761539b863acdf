import { flag, integer, name, port, seconds } from '../value-types.ts'
import { section, setting } from './setting.ts'

export const sandbox = section(
  {
    enabled: setting(flag, false, 'Whether the sandbox runs'),
    port: setting(port, 9101, 'Port to listen on, on loopback only; 0 takes a free port and prints it'),
    data: setting(name, 'data/sandbox.db', 'Its SQLite file, relative to the working directory'),
    autoDeposit: setting(seconds(), 0, 'Time after which the sandbox pays each deposit itself; 0: never', 'seconds'),
    speed: setting(seconds(), 2, 'Time from one status to the next', 'seconds'),
    expiry: setting(seconds(), 1_200, 'Time without a deposit after which a transaction is overdue', 'seconds'),
    seed: setting(integer(0), 1, 'Seed of the random walk of its prices'),
  },
  'The built-in provider for development and rehearsals. Its keys are public.',
)
