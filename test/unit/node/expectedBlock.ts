/** Computes the expected output of the block source for a block of the fake chain, from the chain itself. */
import type { ChainBlock } from '../../../src/domain/block';
import type { FakeBlock } from '../../support/node/fakeChain';

export function expectedBlock(block: FakeBlock): ChainBlock {
  return {
    number: block.number,
    hash: block.hash,
    parentHash: block.parentHash,
    timestamp: block.timestamp,
    proof: 'bloom',
    baseFeePerGas: 7n,
    transactionCount: block.transactions.length,
    transactions: block.transactions.map((transaction, index) => ({
      hash: transaction['hash'],
      index,
      from: transaction['from'],
      effectiveGasPrice: BigInt(String(transaction['gasPrice'])),
      gasUsed: null,
      contractAddress: null,
    })),
    logs: block.logs.map((log, logIndex) => ({
      address: log['address'],
      topics: log['topics'],
      data: log['data'],
      transactionHash: log['transactionHash'],
      transactionIndex: Number(log['transactionIndex']),
      logIndex,
    })),
  } as ChainBlock;
}
