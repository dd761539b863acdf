/**
 * The text in one line, with every character that could control a terminal or hide in it written as in JSON: `\u009b`. A text of
 * `JSON.stringify` stays the same value.
 */
export function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )
}
