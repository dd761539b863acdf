/** Bounds the connections of a port: those of all clients, and those of each address. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientNetworkOf } from '../../core/access/client-address.ts'

/** Of one client address. It applies while all addresses together have at least `from`. */
export interface AddressBound {
  readonly max: number
  readonly from: number
}

export interface ConnectionBounds {
  readonly max: number
  /** Undefined if the connections are those of proxies. */
  readonly ofAddress: AddressBound | undefined
  /** Ends the oldest request that has not arrived whole, for the new connection. Returns its connection. */
  readonly endOldest: (newest: Socket) => Socket | undefined
  readonly onClosed: (reason: 'address' | 'full') => void
  /** It is not read any more, and will be closed. */
  readonly onParked: (socket: Socket) => void
}

const parkedIntervalMs = 100
/** Connections above the bound of their address that are closed in each interval. */
const maxClosedAtOnce = 40
/** The time of a head. */
const endedCountsForMs = 10_000

export class BoundedConnections {
  private readonly bounds: ConnectionBounds
  private readonly open = new Map<Socket, string>()
  /** Above the bound of their address: not read, and closed few at a time, so that a client that comes back at once costs little. */
  private readonly parked = new Set<Socket>()
  /** By address: open connections, and those that were ended a short time ago. */
  private readonly counts = new Map<string, number>()
  private counted = 0

  constructor(server: Server, bounds: ConnectionBounds) {
    this.bounds = bounds
    server.on('connection', (socket: Socket) => this.admit(socket))
    const timer = setInterval(() => this.closeParked(maxClosedAtOnce), parkedIntervalMs).unref()
    server.once('close', () => clearInterval(timer))
  }

  /**
   * The place of an ended request is free, but counts for its address as long as the request could have taken. Otherwise one address
   * takes each place that becomes free.
   */
  onEnded(socket: Socket): void {
    const address = this.open.get(socket)
    if (address === undefined) return
    this.open.delete(socket)
    setTimeout(() => this.count(address, -1), endedCountsForMs).unref()
  }

  private admit(socket: Socket): void {
    const address = clientNetworkOf(socket.remoteAddress ?? '')
    const { max, ofAddress, onClosed } = this.bounds
    const isAboveBound = ofAddress && this.counted >= ofAddress.from && (this.counts.get(address) ?? 0) >= ofAddress.max
    if (isAboveBound) {
      onClosed('address')
      return void this.park(socket)
    }
    if (this.open.size + this.parked.size >= max) this.closeParked(1)
    if (this.open.size >= max && !this.bounds.endOldest(socket)) {
      onClosed('full')
      return void socket.destroy()
    }
    this.open.set(socket, address)
    this.count(address, 1)
    socket.once('close', () => {
      if (this.open.delete(socket)) this.count(address, -1)
    })
  }

  private park(socket: Socket): void {
    if (this.open.size + this.parked.size >= this.bounds.max) return void socket.destroy()
    // Node begins to read a new connection in the next tick.
    process.nextTick(() => socket.pause())
    this.parked.add(socket)
    this.bounds.onParked(socket)
    socket.once('close', () => this.parked.delete(socket))
  }

  private closeParked(count: number): void {
    for (const socket of this.parked.values().take(count)) {
      this.parked.delete(socket)
      socket.destroy()
    }
  }

  private count(address: string, change: 1 | -1): void {
    const count = (this.counts.get(address) ?? 0) + change
    this.counted += change
    if (count > 0) this.counts.set(address, count)
    else this.counts.delete(address)
  }
}
