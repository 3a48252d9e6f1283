/**
 * Compares code on the chain with compiled code. Some parts may differ, at known positions: the address in a library's
 * call protection, library links, immutables, and the metadata (CBOR) at the end of each contract's code. Pure. Order
 * and names of the steps follow Sourcify (argotorg/sourcify, packages/lib-sourcify).
 */
import type { Hex } from '../../domain/hex';

/** A range of bytes in code. */
export interface CodeRange {
  readonly start: number;
  readonly length: number;
}

/** The runtime or creation code of a contract, as the compiler printed it. */
export interface CompiledCode {
  /** The code as hex without 0x; placeholders of libraries and immutables are zero. */
  readonly code: string;
  /** Placeholders of libraries, by fully qualified name. */
  readonly links: ReadonlyMap<string, readonly CodeRange[]>;
  /** Placeholders of immutables in runtime code, by the compiler's id of the variable. */
  readonly immutables: ReadonlyMap<string, readonly CodeRange[]>;
}

export interface CodeMatch {
  /** Whether the metadata matches too. */
  readonly exact: boolean;
  readonly libraries: Readonly<Record<string, Hex>>;
  /** Bytes that follow the code on the chain: the constructor arguments, only in creation code. Hex without
   * 0x. */
  readonly trailingHex: string;
}

export interface Difference {
  /** The difference as text for people. */
  readonly difference: string;
  /** Whether the codes differ in length. */
  readonly lengths?: true;
}

type Comparison = { readonly match: CodeMatch } | Difference;

interface CompareOptions {
  readonly kind: 'runtime' | 'creation';
  /** The contract's own address, for call protection. */
  readonly address: Hex;
  /** Positions of metadata in the compiled code; see findMetadata. */
  readonly metadata: readonly CodeRange[];
  /** Library addresses that the request gives, by fully qualified or bare name. */
  readonly libraries: ReadonlyMap<string, Hex>;
}

/** Compares code from the chain (0x hex) with compiled code. */
export function compareCode(onChain: Hex, compiled: CompiledCode, options: CompareOptions): Comparison {
  const chain = onChain.slice(2).toLowerCase();
  const length = compiled.code.length;
  if (chain.length < length || (options.kind === 'runtime' && chain.length !== length)) {
    const [chainBytes, compiledBytes] = [chain.length / 2, length / 2];
    return {
      difference: `the ${options.kind} code on the chain has ${chainBytes} bytes, the compiled code ${compiledBytes}`,
      lengths: true,
    };
  }
  const comparedCode = chain.slice(0, length);
  const protectedCode = protectCalls(compiled.code, options);
  const linkedCode = fillLibraries(protectedCode, comparedCode, compiled.links, options.libraries);
  if ('difference' in linkedCode) return linkedCode;
  const filledCode = fillImmutables(linkedCode.code, comparedCode, compiled.immutables);
  if ('difference' in filledCode) return filledCode;
  const toResult = (exact: boolean): Comparison => {
    return { match: { exact, libraries: linkedCode.libraries, trailingHex: chain.slice(length) } };
  };
  if (filledCode.code === comparedCode) return toResult(options.metadata.length > 0);
  const codeWithoutMetadata = options.metadata.reduce(
    (code, range) => copyRange(code, comparedCode, range),
    filledCode.code,
  );
  if (codeWithoutMetadata === comparedCode) return toResult(false);
  return { difference: describeDifference(codeWithoutMetadata, comparedCode, options.kind) };
}

/** A library starts with its own address, which the compiler leaves zero: PUSH20 0, ADDRESS, EQ. */
function protectCalls(code: string, { kind, address }: CompareOptions): string {
  const zeroProtection = `73${'0'.repeat(40)}3014`;
  if (kind !== 'runtime' || !code.startsWith(zeroProtection)) return code;
  return `73${address.slice(2)}3014${code.slice(zeroProtection.length)}`;
}

interface Linked {
  readonly code: string;
  readonly libraries: Readonly<Record<string, Hex>>;
}

function fillLibraries(
  code: string,
  chainCode: string,
  links: CompiledCode['links'],
  givenLibraries: CompareOptions['libraries'],
): Linked | { readonly difference: string } {
  const libraries: Record<string, Hex> = {};
  let linked = code;
  for (const [name, ranges] of links) {
    const addressTexts = new Set(ranges.map((range) => sliceRange(chainCode, range)));
    const [address = ''] = addressTexts;
    if (addressTexts.size !== 1)
      return {
        difference: `the code on the chain contains ${addressTexts.size} addresses for library ${name}; allowed: 1`,
      };
    if (/^0*$/.test(address))
      return { difference: `the code on the chain contains no address for library ${name}` };
    const expectedAddress = givenLibraries.get(name) ?? givenLibraries.get(bareName(name));
    if (expectedAddress !== undefined && expectedAddress !== `0x${address}`)
      return {
        difference: `library ${name} has the address 0x${address} in the code on the chain, not ${expectedAddress}`,
      };
    libraries[name] = `0x${address}`;
    for (const range of ranges) linked = copyRange(linked, chainCode, range);
  }
  return { code: linked, libraries };
}

/** The name `L` of a library written `path:L`. */
export function bareName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1);
}

function fillImmutables(
  code: string,
  body: string,
  immutables: CompiledCode['immutables'],
): { readonly code: string } | { readonly difference: string } {
  let filled = code;
  for (const ranges of immutables.values()) {
    const values = new Set(ranges.map((range) => sliceRange(body, range)));
    if (values.size > 1)
      return { difference: 'the code on the chain contains different values for one immutable variable' };
    for (const range of ranges) filled = copyRange(filled, body, range);
  }
  return { code: filled };
}

function sliceRange(code: string, { start, length }: CodeRange): string {
  return code.slice(2 * start, 2 * (start + length));
}

/** Copies one range of `sourceCode` into `code`. */
function copyRange(code: string, sourceCode: string, range: CodeRange): string {
  const { start, length } = range;
  return code.slice(0, 2 * start) + sliceRange(sourceCode, range) + code.slice(2 * (start + length));
}

function describeDifference(code: string, chainCode: string, kind: string): string {
  let firstByte = -1;
  let differingBytes = 0;
  for (let index = 0; index < chainCode.length; index += 2) {
    if (code[index] === chainCode[index] && code[index + 1] === chainCode[index + 1]) continue;
    if (firstByte < 0) firstByte = index / 2;
    differingBytes += 1;
  }
  return `the compiled ${kind} code differs in ${differingBytes} of ${chainCode.length / 2} bytes, first at byte ${firstByte}`;
}

/**
 * Finds metadata with a hash: the CBOR maps that change when a comment is appended to the sources. `codeWithComment` is
 * the code compiled with that comment. Null if something else changed too.
 */
export function findMetadata(code: string, codeWithComment: string): readonly CodeRange[] | null {
  if (code === codeWithComment) return [];
  if (code.length !== codeWithComment.length) return null;
  const ranges: CodeRange[] = [];
  let index = 0;
  while (index < code.length) {
    if (code[index] === codeWithComment[index]) {
      index += 1;
      continue;
    }
    const range = enclosingMap(code, index >> 1);
    if (range === null) return null;
    ranges.push(range);
    index = 2 * (range.start + range.length);
  }
  return ranges;
}

/** Whether the code contains metadata with a hash of the sources. */
export function hasMetadataHash(code: string): boolean {
  return HASH_KEYS.some(({ words }) => {
    for (
      let index = code.lastIndexOf(words);
      index >= 0;
      index = index === 0 ? -1 : code.lastIndexOf(words, index - 1)
    ) {
      if (index % 2 === 0 && enclosingMap(code, (index + words.length) / 2) !== null) return true;
    }
    return false;
  });
}

/**
 * Start of a hash inside the map: its key and the length of its value.
 * https://docs.soliditylang.org/en/latest/metadata.html
 */
const HASH_KEYS = [
  { words: '64697066735822', valueBytes: 34 },
  { words: '65627a7a72305820', valueBytes: 32 },
  { words: '65627a7a72315820', valueBytes: 32 },
] as const;
/** Length limit of the map in bytes: it has at most four keys, and only the value of the hash is long. */
const MAP_BYTES_MAX = 128;

/** The whole map around a byte of its hash, including the two bytes of length at its end. */
function enclosingMap(code: string, byte: number): CodeRange | null {
  for (const { words, valueBytes } of HASH_KEYS) {
    const key = code.lastIndexOf(words, 2 * byte);
    const value = key / 2 + words.length / 2;
    if (key < 0 || key % 2 !== 0 || byte < value || byte >= value + valueBytes) continue;
    // The hash is the first key, unless `experimental` comes before it.
    for (let start = key / 2 - 1; start >= Math.max(0, key / 2 - MAP_BYTES_MAX); start -= 1) {
      if (!/^a[1-4]$/.test(code.slice(2 * start, 2 * start + 2))) continue;
      const end = endOfMap(code, start, value + valueBytes);
      if (end !== null) return { start, length: end - start };
    }
  }
  return null;
}

/** End of the map that starts at `start`: the place where two bytes give its length. */
function endOfMap(code: string, start: number, firstEnd: number): number | null {
  for (let end = firstEnd; end <= start + MAP_BYTES_MAX; end += 1) {
    const length = Number.parseInt(code.slice(2 * end, 2 * end + 4), 16);
    if (length === end - start) return end + 2;
  }
  return null;
}
