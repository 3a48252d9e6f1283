/**
 * Puts transactions into chosen blocks, with explicit nonces, gas and timestamps. Each transaction bids less than the
 * one before, because the node orders by price, so equal runs give equal blocks.
 */
import { AppError } from '../../errors';
import { ZERO_ADDRESS, numberToHex, type Hex } from '../../domain/hex';
import { field, toNumber, type DevRpc, type RpcCall } from './devRpc';

export interface DevTransaction {
  readonly from: Hex;
  /** Address of the called contract; null creates a contract. */
  readonly to: Hex | null;
  readonly data: Hex;
  readonly gas: number;
  readonly value?: bigint;
}

/** A transaction request for the node, with nonce and price. */
type TransactionRequest = Readonly<Record<string, string>>;

export interface BlockMaker {
  /** Adds a transaction to the next block; returns its nonce. */
  add(transaction: DevTransaction): number;
  /** Number of transactions added and not yet mined. */
  readonly waiting: number;
  /** Sum of the gas limits of the waiting transactions. */
  readonly waitingGas: number;
  /** Mines the waiting transactions into one block. `timestamp` is in unix seconds; by default the node's
   * clock. */
  mine(timestamp?: number): Promise<void>;
  /** Drops waiting transactions and reads the nonces again, after a reorg. */
  reset(): Promise<void>;
  /** Builds requests for a reorg, like `add`, with the nonces at block `asOf`. */
  prepare(transactions: readonly DevTransaction[], asOf: number): Promise<TransactionRequest[]>;
}

const BATCH_CHARACTERS_MAX = 1_500_000;
const BATCH_CALLS_MAX = 1_000;
const TOP_PRICE_WEI = 3_000_000_000n;
const PRICE_STEP_WEI = 100_000n;

/** Opens a block maker that sends from these unlocked accounts. It must be the only sender of these
 * accounts. */
export async function openBlockMaker(rpc: DevRpc, accounts: readonly Hex[]): Promise<BlockMaker> {
  let nonces = await readNonces(rpc, accounts, 'latest');
  let waitingRequests: TransactionRequest[] = [];
  let waitingGas = 0;
  return {
    add: (transaction) => {
      const request = buildRequest(transaction, nonces, waitingRequests.length);
      waitingRequests.push(request);
      waitingGas += transaction.gas;
      return Number(request['nonce']);
    },
    get waiting() {
      return waitingRequests.length;
    },
    get waitingGas() {
      return waitingGas;
    },
    mine: async (timestamp) => {
      const requests = waitingRequests;
      waitingRequests = [];
      waitingGas = 0;
      await sendAll(rpc, requests);
      await rpc.call('evm_mine', timestamp === undefined ? [] : [timestamp]);
    },
    reset: async () => {
      waitingRequests = [];
      waitingGas = 0;
      // Removes only transactions of our own accounts. Waiting transactions of users stay in the node.
      await rpc.batch(
        accounts.map((account) => ({ method: 'anvil_removePoolTransactions', params: [account] })),
      );
      nonces = await readNonces(rpc, accounts, 'latest');
    },
    prepare: async (transactions, asOf) => {
      const noncesAtBlock = await readNonces(rpc, accounts, numberToHex(asOf));
      return transactions.map((transaction, index) => buildRequest(transaction, noncesAtBlock, index));
    },
  };
}

function buildRequest(
  transaction: DevTransaction,
  nonces: Map<Hex, number>,
  priceRank: number,
): TransactionRequest {
  const nonce = nonces.get(transaction.from);
  if (nonce === undefined)
    throw new AppError('internal', `account ${transaction.from} is not known to the block maker`);
  nonces.set(transaction.from, nonce + 1);
  const request: Record<string, string> = {
    from: transaction.from,
    data: transaction.data,
    gas: numberToHex(transaction.gas),
    gasPrice: numberToHex(TOP_PRICE_WEI - PRICE_STEP_WEI * BigInt(priceRank)),
    nonce: numberToHex(nonce),
  };
  if (transaction.to !== null) request['to'] = transaction.to;
  if (transaction.value !== undefined) request['value'] = numberToHex(transaction.value);
  return request;
}

/** The node runs the calls of a batch concurrently, which is harmless with fixed nonces. */
async function sendAll(rpc: DevRpc, requests: readonly TransactionRequest[]): Promise<void> {
  let batch: RpcCall[] = [];
  let characters = 0;
  for (const request of requests) {
    const size = 300 + (request['data']?.length ?? 0);
    if (batch.length === BATCH_CALLS_MAX || (batch.length > 0 && characters + size > BATCH_CHARACTERS_MAX)) {
      await rpc.batch(batch);
      batch = [];
      characters = 0;
    }
    batch.push({ method: 'eth_sendTransaction', params: [request] });
    characters += size;
  }
  await rpc.batch(batch);
}

async function readNonces(rpc: DevRpc, accounts: readonly Hex[], tag: string): Promise<Map<Hex, number>> {
  const params = accounts.map((account) => ({ method: 'eth_getTransactionCount', params: [account, tag] }));
  const counts = await rpc.batch(params);
  return new Map(accounts.map((account, index) => [account, toNumber(counts[index])]));
}

/** Throws `node_failed` naming the failed transactions of a block. Otherwise returns the number of transactions. */
export async function expectAllSucceeded(rpc: DevRpc, block: number): Promise<number> {
  const receipts = await rpc.call('eth_getBlockReceipts', [numberToHex(block)]);
  if (!Array.isArray(receipts))
    throw new AppError('node_failed', `the node returned no receipts of block ${block}`);
  const failedIndexes = receipts.flatMap((receipt: unknown, index) =>
    field(receipt, 'status') === '0x1' ? [] : [index],
  );
  if (failedIndexes.length > 0) {
    const recipients = failedIndexes.map((index) => String(field(receipts[index], 'to') ?? ZERO_ADDRESS));
    throw new AppError(
      'node_failed',
      `block ${block}: transactions ${failedIndexes.join(' ')} (to ${recipients.join(' ')}) failed`,
      {
        retryable: false,
      },
    );
  }
  return receipts.length;
}
