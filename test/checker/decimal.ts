/** One text for each value: `1.10`, `1.1` and `11e-1` are the same. */
export function decimal(lexeme: string): string {
  const [mantissa = '', exponent = '0'] = lexeme.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = BigInt(whole + fraction).toString()
  const plain = digits.replace(/0+$/, '')
  return plain === '' ? '0' : `${plain}e${Number(exponent) - fraction.length + digits.length - plain.length}`
}
