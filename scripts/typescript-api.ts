/** @ts-morph/common: the TypeScript 6 whose compiler can be called; the TypeScript 7 of the project is only a program. */
import { ts } from '@ts-morph/common'

export default ts
