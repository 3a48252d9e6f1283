/**
 * Gives the blocks of the stub chain real hashes and roots, and transactions that are really signed, so that they can be
 * proven in full.
 */
import { Transaction, Wallet } from 'ethers';

import { loadKeccak, type Keccak } from '../../../src/node/proof/keccak';
import { plainHeader, plainReceipt, plainRoot, plainTransaction } from '../oracle/plainRoots';
import { STUB_GAS_PRICE, transactionOf } from './stubFullBlock';

type Fields = Readonly<Record<string, unknown>>;
type SignedTransaction = Fields & { readonly hash: string; readonly from: string };

/** Number of different transactions of the stub chain. Signing takes milliseconds, so its blocks share them. */
const SIGNED_TRANSACTIONS = 256;
/** Blocks one after the other begin this many transactions apart. */
const BLOCK_STEP = 31;
const ROUTER = `0x99${'0'.repeat(37)}1`;

export class BlockSealer {
  private readonly signedByNonce = new Map<number, SignedTransaction>();
  private readonly wallets = Array.from(
    { length: 16 },
    (_, index) => new Wallet(`0x${String(index + 1).padStart(64, '0')}`),
  );

  private constructor(private readonly keccak: Keccak) {}

  static async create(): Promise<BlockSealer> {
    return new BlockSealer(await loadKeccak());
  }

  /** The transactions of a block. Different blocks begin at different places of the same list. */
  transactions(block: number, count: number): SignedTransaction[] {
    return Array.from({ length: count }, (_, index) =>
      this.transaction((block * BLOCK_STEP + index) % SIGNED_TRANSACTIONS),
    );
  }

  /** The transaction with this nonce. */
  transaction(nonce: number): SignedTransaction {
    const knownTransaction = this.signedByNonce.get(nonce) ?? sign(this.wallets, nonce);
    this.signedByNonce.set(nonce, knownTransaction);
    return knownTransaction;
  }

  /**
   * The header with its roots and its hash. The roots are those of encoded items, or of transactions and receipts of
   * Ethereum.
   */
  seal<Header extends Fields>(
    header: Header,
    transactions: readonly (Fields | Buffer)[],
    receipts: readonly (Fields | Buffer)[],
  ) {
    const { keccak } = this;
    const encoded = (items: readonly (Fields | Buffer)[], encode: (item: Fields) => Buffer): Buffer[] =>
      items.map((item) => (Buffer.isBuffer(item) ? item : encode(item)));
    const sealedBlock = {
      ...header,
      transactionsRoot: plainRoot(encoded(transactions, plainTransaction), keccak),
      receiptsRoot: plainRoot(
        encoded(receipts, (receipt) => plainReceipt(receipt)),
        keccak,
      ),
    };
    return { ...sealedBlock, hash: `0x${Buffer.from(keccak(plainHeader(sealedBlock))).toString('hex')}` };
  }
}

function sign(wallets: readonly Wallet[], index: number): SignedTransaction {
  const wallet = wallets[index % wallets.length];
  if (wallet === undefined) throw new RangeError('there are no wallets');
  const fields = transactionOf({
    transactionHash: '',
    transactionIndex: '0x0',
    blockHash: '',
    blockNumber: '0x0',
    from: wallet.address.toLowerCase(),
    to: ROUTER,
    effectiveGasPrice: STUB_GAS_PRICE,
    type: '0x2',
  });
  const unsigned = Transaction.from({
    type: 2,
    chainId: 369,
    nonce: index,
    to: ROUTER,
    gasLimit: fields.gas,
    maxFeePerGas: fields.maxFeePerGas,
    maxPriorityFeePerGas: fields.maxFeePerGas,
    data: fields.input,
  });
  const { hash, r, s, yParity } = signedBy(wallet, unsigned);
  return {
    ...fields,
    hash,
    r,
    s,
    yParity,
    v: yParity,
    nonce: toQuantity(index),
    maxPriorityFeePerGas: fields.maxFeePerGas,
  };
}

function signedBy(wallet: Wallet, transaction: Transaction) {
  transaction.signature = wallet.signingKey.sign(transaction.unsignedHash);
  const { r, s, yParity } = transaction.signature;
  return { hash: transaction.hash ?? '', r, s, yParity: toQuantity(yParity) };
}

const toQuantity = (value: number): string => `0x${value.toString(16)}`;
