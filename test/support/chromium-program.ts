/** The program of Chromium: the headless shell where there is one, since it starts and renders with two thirds of the work. */
import { programOf } from './program.ts'

export function chromiumProgram(): Promise<string> {
  return programOf({
    names: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
    package: 'chromium-headless-shell',
  })
}
