/** The operator's page: its files by path. */
export function operatorPage(): ReadonlyMap<string, { readonly contentType: string; readonly body: string }> {
  return new Map()
}
