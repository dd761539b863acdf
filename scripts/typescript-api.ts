/** @ts-morph/common: the TypeScript 6 whose compiler can be called; the project's own TypeScript 7 is a program alone. */
import { ts } from '@ts-morph/common'

export default ts
