/**
 * Gives blocks of the simulated chain real hashes and roots, and signed transactions, so that they can be proven in
 * full, or like blocks of an OP chain. The logs without a transaction have a receipt in the receipts root, as on Celo.
 */
import type { ChainBlock } from '../../../src/domain/block';
import type { Hex } from '../../../src/domain/hex';
import { plainReceipt } from '../../support/oracle/plainRoots';
import { BlockSealer } from '../../support/stub/blockSealer';
import { FULL_HEADER, STUB_GAS_PRICE } from '../../support/stub/stubFullBlock';
import { bloomOf, keepJson, makeJson } from '../fleet/blockJson';

/** Returns the block with its real hashes. `nonce` is the nonce of its first transaction. */
export type Seal = (block: ChainBlock, nonce: number) => ChainBlock;

const GAS_PER_TRANSACTION = 21_000;
/** Fields of the receipt of a deposit, which is a transaction of type 0x7e. */
const DEPOSIT = { type: '0x7e', depositNonce: '0x7', depositReceiptVersion: '0x1' };
const DEPOSIT_FIELDS = ['#depositNonce', '#depositReceiptVersion'];
const hex = (value: number): string => `0x${value.toString(16)}`;

/** With `deposits`, the first transaction of each block is a deposit of an OP chain. */
export async function createSeal(deposits: boolean): Promise<Seal> {
  const sealer = await BlockSealer.create();
  const isDeposit = (index: number, count: number): boolean => deposits && index === 0 && count > 0;
  return (block, nonce) => {
    const signedTransactions = block.transactions.map((_, index) => sealer.transaction(nonce + index));
    const transactions = block.transactions.map((transaction, index) => ({
      ...transaction,
      hash: signedTransactions[index]!.hash as Hex,
      from: signedTransactions[index]!.from as Hex,
      effectiveGasPrice: BigInt(STUB_GAS_PRICE),
    }));
    const logs = block.logs.map((log) => {
      const transactionHash = transactions[log.transactionIndex]?.hash ?? log.transactionHash;
      return { ...log, transactionHash };
    });
    const complete = (namedBlock: ChainBlock) => {
      const json = makeJson(namedBlock);
      const header = {
        ...FULL_HEADER,
        ...json.whole,
        gasLimit: hex(30_000_000),
        gasUsed: hex(GAS_PER_TRANSACTION * signedTransactions.length),
        transactions: json.whole.transactions.map((fields, index) => ({
          ...signedTransactions[index],
          ...fields,
          ...(isDeposit(index, signedTransactions.length) ? { type: '0x7e' } : {}),
        })),
      };
      const receipts = json.receipts.map((receipt, index) => ({
        ...receipt,
        type: index < signedTransactions.length ? '0x2' : '0x0',
        status: '0x1',
        cumulativeGasUsed: index < signedTransactions.length ? hex(GAS_PER_TRANSACTION * (index + 1)) : '0x0',
        logsBloom: bloomOf(receipt.logs),
        ...(isDeposit(index, signedTransactions.length) ? DEPOSIT : {}),
      }));
      return { header, receipts, logs: json.logs };
    };
    const unsealed = { ...block, transactions, logs };
    // The roots and the hash follow from a first form of the block. The second form has the hash in all its parts.
    const draft = complete(unsealed);
    const { hash, transactionsRoot, receiptsRoot } = sealer.seal(
      draft.header,
      signedTransactions.map((transaction, index) =>
        // The type and an empty list stand for a deposit, because nothing reads its fields.
        isDeposit(index, signedTransactions.length) ? Buffer.from('7ec0', 'hex') : transaction,
      ),
      draft.receipts.map((receipt, index) =>
        isDeposit(index, signedTransactions.length) ? plainReceipt(receipt, DEPOSIT_FIELDS) : receipt,
      ),
    );
    const sealed = { ...unsealed, hash: hash as Hex };
    const { header, ...receiptsAndLogs } = complete(sealed);
    const wholeHeader = { ...header, transactionsRoot, receiptsRoot };
    keepJson(sealed, {
      header: { ...wholeHeader, transactions: transactions.map((transaction) => transaction.hash) },
      whole: wholeHeader,
      ...receiptsAndLogs,
    });
    return sealed;
  };
}
