import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { InvalidAnswer, openPrompt } from './init.ts'

const toDigit = (text: string): number => {
  if (!/^\d$/.test(text)) throw new InvalidAnswer('it must be a digit')
  return Number(text)
}
const question = { question: 'A digit', flag: '--digit', given: undefined, parse: toDigit }

/** Runs three prompts over lines that are all there at once, as from a pipe. */
async function runPrompt(lines: string, isTTY: boolean) {
  const printed: string[] = []
  const input = Object.assign(new PassThrough(), { isTTY })
  input.end(lines)
  await using prompt = openPrompt(input, (line) => printed.push(line))
  const answers: number[] = []
  for (const preset of [undefined, '7', undefined]) answers.push(await prompt.ask({ ...question, ...(preset && { preset }) }))
  return { answers, printed }
}

it('takes a line for each question, and the preset for an empty one', async () => {
  expect(await runPrompt('1\n\n3\n', false)).toEqual({ answers: [1, 7, 3], printed: ['A digit:', 'A digit [7]:', 'A digit:'] })
})

it('prompts again on a terminal, and ends elsewhere', async () => {
  const { answers, printed } = await runPrompt('x\n1\n\n3\n', true)
  expect([answers, printed.slice(0, 3)]).toEqual([
    [1, 7, 3],
    ['A digit:', '--digit: it must be a digit', 'A digit:'],
  ])
  await expect(runPrompt('x\n1\n\n3\n', false)).rejects.toThrow('--digit: it must be a digit')
})

it.each([true, false])('the end of the input is no answer, on a terminal (%s) neither', async (isTTY) => {
  await expect(runPrompt('1\n', isTTY)).rejects.toThrow('--digit is missing')
})
