/** Header and transaction fields that Candlehouse does not read but other indexers require. */

const zeros = (bytes: number): string => `0x${'00'.repeat(bytes)}`;
const root = (digit: string): string => `0x${digit.repeat(64)}`;

/** Price that every transaction pays per gas. */
export const STUB_GAS_PRICE = `0x${(10 ** 15).toString(16)}`;

/**
 * Header fields that the stub chain adds for other indexers. They complete the fields that every header of the stub
 * chain has.
 */
export const FULL_HEADER = {
  nonce: zeros(8),
  mixHash: root('5'),
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  stateRoot: root('6'),
  transactionsRoot: root('7'),
  receiptsRoot: root('8'),
  withdrawalsRoot: root('9'),
  miner: `0x${'ee'.repeat(20)}`,
  difficulty: '0x0',
  totalDifficulty: '0xc70d815d562d3cfa955',
  extraData: '0x',
  size: '0x4000',
  uncles: [],
  withdrawals: [],
} as const;

interface StubReceipt {
  readonly transactionHash: string;
  readonly transactionIndex: string;
  readonly blockHash: string;
  readonly blockNumber: string;
  readonly from: string;
  readonly to: string;
  readonly effectiveGasPrice: string;
  readonly type: string;
}

/** The transaction of a receipt: one router call with 260 bytes of input. */
export function transactionOf(receipt: StubReceipt) {
  const { transactionHash, transactionIndex, blockHash, blockNumber, from, to, effectiveGasPrice, type } =
    receipt;
  return {
    hash: transactionHash,
    transactionIndex,
    blockHash,
    blockNumber,
    from,
    to,
    type,
    chainId: '0x171',
    nonce: '0x1',
    value: '0x0',
    gas: '0x493e0',
    gasPrice: effectiveGasPrice,
    maxFeePerGas: effectiveGasPrice,
    maxPriorityFeePerGas: '0x1',
    accessList: [],
    input: `0x38ed1739${'00'.repeat(256)}`,
    v: '0x1',
    yParity: '0x1',
    r: root('a'),
    s: root('b'),
  };
}
