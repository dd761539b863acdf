/** Milliseconds within which a test expects an event that comes at once on an idle machine: this one may be busy. */
export const eventTimeoutMs = 30_000
