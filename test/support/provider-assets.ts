/** The operator's own words for the assets of the usual order: with them a create to Form A needs no list of the provider. */
export const providerAssets = { BTC: 'BTC', USDTTRC20: 'USDTTRC20' }
