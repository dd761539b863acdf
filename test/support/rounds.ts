/** How often a test does what it does: `quick` times in `npm test`, `long` times in `npm run test:long`, which runs its file again. */
export function rounds(quick: number, long: number): number {
  return process.env.SWAPGATE_LANE === 'long' ? long : quick
}
