/** Prints the words of each page of `docs/`, and its sentences of over 40 words: `npm run docs:count`. It fails nothing. */
import { globSync, readFileSync } from 'node:fs'

const longWords = 40

interface Counted {
  readonly page: string
  readonly words: number
  readonly longSentences: readonly string[]
}

function count(page: string): Counted {
  const text = readFileSync(page, 'utf8').replace(/```.*?```/gs, '')
  // A line of a list, a row's cell and a paragraph end a sentence, too.
  const parts = text.split(/\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) )|\|/).flatMap((part) => part.split(/(?<=[.:;?!])\s+/))
  const longSentences = parts.filter((part) => wordsOf(part) > longWords).map((part) => part.replaceAll(/\s+/g, ' ').trim())
  return { page, words: wordsOf(readFileSync(page, 'utf8')), longSentences }
}

function wordsOf(text: string): number {
  return text.split(/\s+/).filter((word) => /\w/.test(word)).length
}

const counted = globSync('docs/**/*.md')
  .map(count)
  .toSorted((one, other) => other.words - one.words)
for (const { page, words, longSentences } of counted) {
  console.log(`${String(words).padStart(6)} ${page}`)
  for (const sentence of longSentences) console.log(`       ${wordsOf(sentence)}: ${sentence}`)
}
const total = counted.reduce((sum, { words }) => sum + words, 0)
const long = counted.reduce((sum, { longSentences }) => sum + longSentences.length, 0)
console.log(`${String(total).padStart(6)} words, ${long} sentences of over ${longWords} words`)
