/**
 * Makes reorgs of the newest blocks, in the two ways in which a client may see them: in one step, or with a
 * lower head in between.
 */
import { isHexData, numberToHex, type Hex } from '../../domain/hex';
import type { BlockMaker, DevTransaction } from './blockMaker';
import { field, getBlockHead, type DevRpc } from './devRpc';

/** Signed transactions of users of the chain, which a reorg must not lose. */
interface UserTransactions {
  /** Transactions of the last blocks, by block, oldest first. */
  readonly mined: readonly (readonly Hex[])[];
  readonly waiting: readonly Hex[];
}

/**
 * The signed transactions of users, which are all senders except `senders`: in the last `depth` blocks, and
 * waiting in the node. Transactions without a signature (of impersonated accounts) are left out.
 */
export async function listUserTransactions(
  rpc: DevRpc,
  senders: ReadonlySet<string>,
  depth: number,
): Promise<UserTransactions> {
  const head = await getBlockHead(rpc);
  const numbers = Array.from({ length: depth }, (_, index) => head.number - depth + 1 + index);
  const listSigned = async (transactions: readonly unknown[]): Promise<Hex[]> => {
    const userTransactions = transactions.filter(
      (transaction) => !senders.has(String(field(transaction, 'from')).toLowerCase()),
    );
    const rawTransactions = await rpc.batch(
      userTransactions.map((transaction) => ({
        method: 'eth_getRawTransactionByHash',
        params: [field(transaction, 'hash')],
      })),
    );
    return rawTransactions.filter((rawTransaction) => isHexData(rawTransaction));
  };
  const mined = await Promise.all(
    numbers.map(async (number) => {
      const block = await rpc.call('eth_getBlockByNumber', [numberToHex(number), true]);
      const transactions = field(block, 'transactions');
      return listSigned(Array.isArray(transactions) ? transactions : []);
    }),
  );
  const pendingPool = field(await rpc.call('txpool_content'), 'pending');
  return { mined, waiting: await listSigned(valuesOf(pendingPool).flatMap(valuesOf)) };
}

const valuesOf = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : [];

/**
 * Sends transactions of users again after a reorg, in the order of their blocks. The node refuses
 * transactions that it still has; these refusals are ignored.
 */
export async function sendAgain(rpc: DevRpc, { mined, waiting }: UserTransactions): Promise<void> {
  for (const raw of [...mined.flat(), ...waiting])
    await rpc.call('eth_sendRawTransaction', [raw]).catch(() => undefined);
}

/**
 * Reorg in one step: replaces the transactions of the last `blocks.length` blocks; height and timestamps
 * stay. The replaced transactions are dropped. `blocks[0]` is the oldest. `users` has the signed transactions of users of
 * these blocks.
 */
export async function replaceBlocks(
  rpc: DevRpc,
  maker: BlockMaker,
  blocks: readonly (readonly DevTransaction[])[],
  users: readonly (readonly Hex[])[] = [],
): Promise<void> {
  const head = await getBlockHead(rpc);
  const requests = await maker.prepare(blocks.flat(), head.number - blocks.length);
  const offsets = blocks.flatMap((transactions, offset) => transactions.map(() => offset));
  const userRequests = users.flatMap((transactions, offset) => transactions.map((raw) => [raw, offset]));
  const newRequests = requests.map((request, index) => [request, offsets[index]]);
  await rpc.call('anvil_reorg', [blocks.length, [...userRequests, ...newRequests]]);
  await maker.reset();
}

/**
 * Reorg in several steps: removes `depth` blocks, then mines the given blocks, which may be fewer or more.
 * Between the two, the node's head is lower, without a notification. `blocks` have their own timestamps (unix
 * seconds, ascending, above the parent's).
 */
export async function rollBack(
  rpc: DevRpc,
  maker: BlockMaker,
  depth: number,
  blocks: readonly { readonly transactions: readonly DevTransaction[]; readonly timestamp: number }[],
): Promise<void> {
  await rpc.call('anvil_rollback', [depth]);
  await maker.reset();
  for (const { transactions, timestamp } of blocks) {
    for (const transaction of transactions) maker.add(transaction);
    await maker.mine(timestamp);
  }
}
