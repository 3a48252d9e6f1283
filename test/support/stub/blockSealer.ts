/**
 * Gives the blocks of the stub chain real hashes and roots, and transactions that are really signed, so that they can be
 * proven in full.
 */
import { Transaction, Wallet } from 'ethers';

import { encodeHeader, FIELD_SETS, hasFields } from '../../../src/node/proof/encodeHeader';
import { encodeReceipt } from '../../../src/node/proof/encodeReceipt';
import { encodeTransaction } from '../../../src/node/proof/encodeTransaction';
import { loadKeccak, type Keccak } from '../../../src/node/proof/keccak';
import { listRoot } from '../../../src/node/proof/listRoot';
import { RlpWriter } from '../../../src/node/proof/rlpWriter';
import { STUB_GAS_PRICE, transactionOf } from './stubFullBlock';

type Fields = Readonly<Record<string, unknown>>;
type SignedTransaction = Fields & { readonly hash: string; readonly from: string };

/** Number of different transactions of the stub chain. Signing takes milliseconds, so its blocks share them. */
const SIGNED = 256;
const ROUTER = `0x99${'0'.repeat(37)}1`;

export class BlockSealer {
  private readonly values = new RlpWriter();
  private readonly nodes = new RlpWriter();
  private readonly signed = new Map<number, SignedTransaction>();
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
    return Array.from({ length: count }, (_, index) => this.transaction((block * 31 + index) % SIGNED));
  }

  /** The transaction with this nonce. */
  transaction(nonce: number): SignedTransaction {
    const known = this.signed.get(nonce) ?? sign(this.wallets, nonce);
    this.signed.set(nonce, known);
    return known;
  }

  /** The header with its roots and its hash. */
  seal<Header extends Fields>(header: Header, transactions: readonly Fields[], receipts: readonly Fields[]) {
    const sealed = {
      ...header,
      transactionsRoot: this.rootOf(transactions, encodeTransaction),
      receiptsRoot: this.rootOf(receipts, encodeReceipt),
    };
    const fields = FIELD_SETS.find((set) => hasFields(sealed, set)) ?? [];
    this.values.clear();
    encodeHeader(sealed, fields, this.values);
    return { ...sealed, hash: toHex(this.keccak(this.values.since(0))) };
  }

  private rootOf(items: readonly Fields[], encode: (item: Fields, into: RlpWriter) => void): string {
    this.values.clear();
    this.nodes.clear();
    const encoded = items.map((item) => {
      const mark = this.values.size;
      encode(item, this.values);
      return this.values.since(mark);
    });
    return toHex(listRoot(encoded, this.keccak, this.nodes));
  }
}

function sign(wallets: readonly Wallet[], index: number): SignedTransaction {
  const wallet = wallets[index % wallets.length];
  if (wallet === undefined) throw new RangeError('there are no wallets');
  const shape = transactionOf({
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
    gasLimit: shape.gas,
    maxFeePerGas: shape.maxFeePerGas,
    maxPriorityFeePerGas: shape.maxFeePerGas,
    data: shape.input,
  });
  const { hash, r, s, yParity } = signedBy(wallet, unsigned);
  const priority = shape.maxFeePerGas;
  return {
    ...shape,
    hash,
    r,
    s,
    yParity,
    v: yParity,
    nonce: toQuantity(index),
    maxPriorityFeePerGas: priority,
  };
}

function signedBy(wallet: Wallet, transaction: Transaction) {
  transaction.signature = wallet.signingKey.sign(transaction.unsignedHash);
  const { r, s, yParity } = transaction.signature;
  return { hash: transaction.hash ?? '', r, s, yParity: toQuantity(yParity) };
}

const toQuantity = (value: number): string => `0x${value.toString(16)}`;
const toHex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;
