import { spawnSync } from 'node:child_process'

const file = '/usr/bin/node'
const [, major = 26] = /^v(\d+)/.exec(spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout) ?? []

/** A Node of the machine that is too old for swapgate, if there is one. */
export const olderNode = Number(major) < 26 ? file : undefined
