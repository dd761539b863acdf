/** Milliseconds of processor time that the work takes of this thread. On a busy machine it also waits for other programs, which is not counted. */
export async function workMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
