/** What `createMetrics` reads of a process that has nothing to read yet. */
export const nothingToRead = {
  accounts: [],
  readDeliveryGauges: async () => ({ waiting: 0, oldestWaitingMs: 0 }),
  readLedgerWaits: () => undefined,
  readLedgerConnections: () => undefined,
  readLedgerCapacity: async () => ({ bytes: 0 }),
  readWaitingEvents: async () => ({ count: 0, ageMs: 0 }),
  readProviderConnections: () => [],
  readStreams: () => undefined,
  memoryShare: () => 0,
}
