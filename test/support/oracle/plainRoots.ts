/**
 * Encodes headers, transactions and receipts the plain way: RLP of nested lists from the first byte to the last, and a
 * trie that is built by the definition of the Yellow Paper, appendix D. Seals the blocks of tests, so the encoders of
 * src/node/proof are compared with other code.
 */
import type { Keccak } from '../../../src/node/proof/keccak';

type Fields = Readonly<Record<string, unknown>>;
type Item = Buffer | readonly Item[];

const HEADER_FIELDS = [
  ...['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom'],
  ...['#difficulty', '#number', '#gasLimit', '#gasUsed', '#timestamp', 'extraData', 'mixHash', 'nonce'],
  ...['#baseFeePerGas', 'withdrawalsRoot', '#blobGasUsed', '#excessBlobGas', 'parentBeaconBlockRoot'],
  'requestsHash',
];
const TIPS = ['#maxPriorityFeePerGas', '#maxFeePerGas'];
const CALL = ['#gas', 'to', '#value', 'input'];
const SIGNATURE = ['#yParity', '#r', '#s'];
/** The fields of each type of transaction, in order. `#` marks a number. */
const TRANSACTION_FIELDS: Readonly<Record<number, readonly string[]>> = {
  0: ['#nonce', '#gasPrice', ...CALL, '#v', '#r', '#s'],
  1: ['#chainId', '#nonce', '#gasPrice', ...CALL, 'accessList', ...SIGNATURE],
  2: ['#chainId', '#nonce', ...TIPS, ...CALL, 'accessList', ...SIGNATURE],
  3: [
    ...['#chainId', '#nonce', ...TIPS, ...CALL, 'accessList', '#maxFeePerBlobGas', 'blobVersionedHashes'],
    ...SIGNATURE,
  ],
  4: ['#chainId', '#nonce', ...TIPS, ...CALL, 'accessList', 'authorizationList', ...SIGNATURE],
};
const LIST_FIELDS: Readonly<Record<string, readonly string[]>> = {
  accessList: ['address', 'storageKeys'],
  authorizationList: ['#chainId', 'address', '#nonce', '#yParity', '#r', '#s'],
};

export function plainHeader(header: Fields): Buffer {
  const presentNames = HEADER_FIELDS.filter((name) => header[name.replace('#', '')] !== undefined);
  return rlp(presentNames.map((name) => fieldOf(header, name)));
}

export function plainTransaction(transaction: Fields): Buffer {
  const names = TRANSACTION_FIELDS[typeOf(transaction)];
  if (names === undefined) throw new RangeError(`no transaction has the type ${String(transaction['type'])}`);
  return typed(
    transaction,
    names.map((name) => fieldOf(transaction, name)),
  );
}

/** `fieldNames` are the names of the fields that the chain adds to the four of Ethereum. */
export function plainReceipt(receipt: Fields, fieldNames: readonly string[] = []): Buffer {
  const logs = (receipt['logs'] as readonly Fields[]).map((log) => [
    bytesOf(log['address']),
    (log['topics'] as readonly string[]).map(bytesOf),
    bytesOf(log['data']),
  ]);
  const receiptFields = ['#status', '#cumulativeGasUsed', 'logsBloom'].map((name) => fieldOf(receipt, name));
  return typed(receipt, [...receiptFields, logs, ...fieldNames.map((name) => fieldOf(receipt, name))]);
}

/** Root of the trie whose keys are rlp(0), rlp(1), … */
export function plainRoot(values: readonly Buffer[], keccak: Keccak): string {
  const pairs = values.map((value, index): Pair => {
    const key = rlp(index === 0 ? Buffer.alloc(0) : bytesOf(`0x${index.toString(16)}`));
    return [[...key].flatMap((byte) => [byte >> 4, byte & 15]), value];
  });
  const root = pairs.length === 0 ? Buffer.of(0x80) : rlp(nodeOf(pairs, keccak));
  return `0x${Buffer.from(keccak(root)).toString('hex')}`;
}

type Pair = readonly [path: readonly number[], value: Buffer];

function nodeOf(pairs: readonly Pair[], keccak: Keccak): Item {
  const [first] = pairs;
  if (first === undefined) return Buffer.alloc(0);
  if (pairs.length === 1) return [compact(first[0], true), first[1]];
  let sharedLength = 0;
  while (pairs.every(([path]) => path[sharedLength] === first[0][sharedLength])) sharedLength += 1;
  if (sharedLength > 0) {
    const pathsLeft = pairs.map(([path, value]): Pair => [path.slice(sharedLength), value]);
    return [compact(first[0].slice(0, sharedLength), false), referenceOf(nodeOf(pathsLeft, keccak), keccak)];
  }
  const children = Array.from({ length: 16 }, (_, nibble) => {
    const pairsBelow = pairs.filter(([path]) => path[0] === nibble);
    const child = nodeOf(
      pairsBelow.map(([path, value]): Pair => [path.slice(1), value]),
      keccak,
    );
    return referenceOf(child, keccak);
  });
  return [...children, Buffer.alloc(0)];
}

/** How a parent names a child: an empty child or a short node itself, any other node by its hash. */
function referenceOf(node: Item, keccak: Keccak): Item {
  if (Buffer.isBuffer(node)) return node;
  const encoded = rlp(node);
  return encoded.length < 32 ? node : Buffer.from(keccak(encoded));
}

function compact(path: readonly number[], isLeaf: boolean): Buffer {
  const flag = (isLeaf ? 2 : 0) + (path.length % 2);
  const nibbles = path.length % 2 === 1 ? [flag, ...path] : [flag, 0, ...path];
  return Buffer.from(nibbles.map((nibble) => nibble.toString(16)).join(''), 'hex');
}

function typed(fields: Fields, items: readonly Item[]): Buffer {
  const type = typeOf(fields);
  return type === 0 ? rlp(items) : Buffer.concat([Buffer.of(type), rlp(items)]);
}

const typeOf = (fields: Fields): number => Number(fields['type'] ?? 0);

function fieldOf(fields: Fields, name: string): Item {
  const value = fields[name.replace('#', '')];
  if (Array.isArray(value)) {
    const names = LIST_FIELDS[name];
    if (names === undefined) return value.map(bytesOf);
    return value.map((item: Fields) => names.map((name) => fieldOf(item, name)));
  }
  if (!name.startsWith('#')) return bytesOf(value ?? '0x');
  const number = BigInt(String(value));
  return number === 0n ? Buffer.alloc(0) : bytesOf(`0x${number.toString(16)}`);
}

function bytesOf(hex: unknown): Buffer {
  const digits = String(hex).slice(2);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}

function rlp(item: Item): Buffer {
  if (Buffer.isBuffer(item)) {
    // A small byte is its own encoding.
    const isOwnCode = item.length === 1 && (item[0] ?? 0) < 0x80;
    return isOwnCode ? item : Buffer.concat([lengthOf(item.length, 0x80), item]);
  }
  const body = Buffer.concat(item.map((child) => rlp(child)));
  return Buffer.concat([lengthOf(body.length, 0xc0), body]);
}

function lengthOf(length: number, base: number): Buffer {
  if (length < 56) return Buffer.of(base + length);
  const digits = bytesOf(`0x${length.toString(16)}`);
  return Buffer.concat([Buffer.of(base + 55 + digits.length), digits]);
}
