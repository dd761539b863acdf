import { describe, expect, it } from 'vitest'
import { contractKey, sameContract } from './same-address.ts'

const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const bonk = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'
const tether = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
const circle = 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN'
const ripple = 'rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De'
const notcoin = 'EQAvlWFDxGF2lXm67y4yzC17wYKD9A0guwPkMs1gOsM__NOT'
const move = '0x0dba34672e30cb065b1f93e3ab55318768fd6fef66c15942c9f7cb846e2f900e'

describe('two spellings are one contract', () => {
  it.each([
    ['hexadecimal digits in any case', usdc, usdc.toLowerCase()],
    ['leading zeros', '0x0000000000000000000000000000456E65726779', '0x456e65726779'],
    ['leading zeros before the name of a type', `${move}::usdc::USDC`, `0x${move.slice(3)}::usdc::USDC`],
    ['spaces around it', usdc, ` ${usdc} `],
    ['an account of TRON in hexadecimal digits', tether, '41a614f803b6fd780986a42c78ec9c7f77e6ded13c'],
    ['an account of TRON as its machine has it', tether, '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c'],
    ['TON, raw', notcoin, '0:2f956143c461769579baef2e32cc2d7bc18283f40d20bb03e432cd603ac33ffc'],
    ['an issuer of Stellar with the code', `USDC-${circle}`, `USDC:${circle}`],
    ['an issuer of Stellar without the code', `USDC-${circle}`, circle],
    ['an issuer of Stellar in lower case', `USDC-${circle}`, circle.toLowerCase()],
    [
      'an issuer of the XRP Ledger with the code in hexadecimal digits',
      `RLUSD-${ripple}`,
      `524C555344000000000000000000000000000000.${ripple}`,
    ],
    [
      'an issuer of the XRP Ledger with the code in small hexadecimal digits',
      `RLUSD-${ripple}`,
      `524c555344000000000000000000000000000000.${ripple}`,
    ],
    ['an issuer before the code', `RLUSD-${ripple}`, `${ripple}.RLUSD`],
    ['a token of Hedera at its long address', '0.0.456858', '0x000000000000000000000000000000000006f89a'],
    ['a token of Hedera with a checksum', '0.0.456858', '0.0.456858-zzzzz'],
    ['a token of NEAR with its standard', 'usdt.tether-token.near', 'nep141:usdt.tether-token.near'],
    ['an asset of Algorand', '31566704', '31566704'],
  ])('%s', (_, one, other) => {
    expect(sameContract(one, other)).toBe(true)
    expect(contractKey(one)).toBe(contractKey(other))
    expect(sameContract(other, one)).toBe(true)
  })
})

describe('two contracts stay two', () => {
  it.each([
    ['another token of Ethereum', usdc, '0xdAC17F958D2ee523a2206206994597C13D831ec7'],
    ['a mint of Solana in other case', bonk, bonk.toLowerCase()],
    ['an account of TRON in other case', tether, tether.toLowerCase()],
    ['an account of TRON with a wrong letter', tether, `${tether.slice(0, -1)}u`],
    ['a type of Move in other case', `${move}::usdc::USDC`, `${move}::usdc::usdc`],
    ['a type of Move and its account', `${move}::usdc::USDC`, move],
    ['another code of one issuer', `USDC-${circle}`, `EURC-${circle}`],
    ['a code in other case', `RLUSD-${ripple}`, `rlusd-${ripple}`],
    ['another issuer', `RLUSD-${ripple}`, 'RLUSD-rEXqr8zjB3mdzCuQoxxVrcBUrBxpVCLzK8'],
    ['another token of Hedera', '0.0.456858', '0.0.456859'],
    ['another asset of Algorand', '31566704', '3156670'],
    ['the placeholder of a coin', usdc, '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'],
    ['a word', usdc, 'native'],
  ])('%s', (_, one, other) => {
    expect(sameContract(one, other)).toBe(false)
    expect(sameContract(other, one)).toBe(false)
  })
})
