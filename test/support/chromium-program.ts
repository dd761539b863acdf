/** The program of Chromium. */
import { programOf } from './program.ts'

export function chromiumProgram(): Promise<string> {
  return programOf({ names: ['chromium', 'chromium-browser', 'google-chrome'], package: 'chromium' })
}
