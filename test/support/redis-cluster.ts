/** A real Redis Cluster on loopback: three masters that hold the slots, each with a replica if wanted. */
import { setTimeout as delay } from 'node:timers/promises'
import { RedisServer } from './redis.ts'

const slots = 16_384
const clustered = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000', '--cluster-replica-validity-factor', '0']

export class RedisCluster implements AsyncDisposable {
  readonly masters: readonly RedisServer[]
  private readonly nodes: readonly RedisServer[]

  private constructor(nodes: readonly RedisServer[]) {
    this.nodes = nodes
    this.masters = nodes.slice(0, 3)
  }

  /** Formed, and ready for every slot. */
  static async start({ replicas }: { readonly replicas: boolean }): Promise<RedisCluster> {
    const nodes = await Promise.all(Array.from({ length: replicas ? 6 : 3 }, () => RedisServer.start(...clustered)))
    const cluster = new RedisCluster(nodes)
    await cluster.form()
    return cluster
  }

  get url(): string {
    return `redis+cluster://${this.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`
  }

  /** Whether all nodes that respond report that every slot is held. */
  async isWhole(): Promise<boolean> {
    const states = await Promise.all(this.nodes.map((node) => node.command('CLUSTER', 'INFO').catch(() => 'cluster_state:ok')))
    return states.every((state) => state.includes('cluster_state:ok'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node[Symbol.asyncDispose]()))
  }

  private async form(): Promise<void> {
    const [first] = this.nodes
    for (const [at, node] of this.nodes.entries()) {
      if (node !== first) await node.command('CLUSTER', 'MEET', '127.0.0.1', String(first?.port))
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', String(at + 1)).catch(() => {})
    }
    for (const [at, master] of this.masters.entries()) {
      const [from, to] = [at, at + 1].map((part) => Math.floor((part * slots) / this.masters.length)) as [number, number]
      await master.command('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to - 1))
    }
    await until(() => this.isWhole())
    for (const [at, replica] of this.nodes.slice(3).entries()) await follow(replica, this.masters[at] as RedisServer)
    await until(async () => (await Promise.all(this.nodes.slice(3).map((replica) => replica.isFollowing()))).every(Boolean))
  }
}

async function follow(replica: RedisServer, master: RedisServer): Promise<void> {
  const [, id = ''] = (await master.command('CLUSTER', 'MYID')).split('\r\n')
  // It needs the master first.
  await until(() =>
    replica.command('CLUSTER', 'REPLICATE', id).then(
      () => true,
      () => false,
    ),
  )
}

export async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; await delay(50)) if (await isTrue()) return
  throw new Error('What was waited for did not come in time.')
}
