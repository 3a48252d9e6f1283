/** Sends many transactions that must all succeed, in as few blocks as possible. */
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import { expectAllSucceeded, openBlockMaker } from './blockMaker';
import { getBlockHead, type DevRpc } from './devRpc';

export interface Builder {
  /** Adds a transaction and mines first if the block is full. Returns its nonce. */
  send(from: Hex, to: Hex | null, data: Hex, gas: number, value?: bigint): Promise<number>;
  /** Mines the remaining transactions. Throws if any transaction failed or was left out. */
  finish(): Promise<void>;
}

const BLOCK_GAS_MAX = 95_000_000;
const BLOCK_SECONDS = 10;

/** Opens a builder on the node's head; its blocks are ten seconds apart. */
export async function openBuilder(rpc: DevRpc, accounts: readonly Hex[]): Promise<Builder> {
  const maker = await openBlockMaker(rpc, accounts);
  let { number, timestamp } = await getBlockHead(rpc);
  const finish = async (): Promise<void> => {
    const sentCount = maker.waiting;
    if (sentCount === 0) return;
    timestamp += BLOCK_SECONDS;
    number += 1;
    await maker.mine(timestamp);
    const minedCount = await expectAllSucceeded(rpc, number);
    if (minedCount !== sentCount)
      throw new AppError(
        'node_failed',
        `block ${number} has ${minedCount} transactions, expected ${sentCount}`,
      );
  };
  return {
    send: async (from, to, data, gas, value) => {
      if (maker.waitingGas + gas > BLOCK_GAS_MAX) await finish();
      return maker.add({ from, to, data, gas, ...(value === undefined ? {} : { value }) });
    },
    finish,
  };
}
