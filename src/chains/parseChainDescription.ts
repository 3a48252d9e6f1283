/**
 * Parses the chain description of CHAIN_CONFIG. The file overrides keys of a built-in description, or is a
 * complete description. A wrong file stops the program at start with one message that names each wrong field.
 */
import { z, type core } from 'zod';

import { ADDRESS_ALLOWED, findAddress } from '../domain/address';
import type { ChainDescription } from '../domain/chainDescription';
import { ZERO_ADDRESS, type Hex } from '../domain/hex';
import { readIpcPath } from '../domain/networks';
import { PROTOCOLS } from '../protocols/registry';
import { AppError } from '../errors';
import { findBuiltInChain } from './builtIn/builtInChains';
import { findJsonFault } from './jsonFault';
import { redactUrls, shorten } from './redactUrls';

/** Largest chain id and block number, because the database stores them as UInt32. */
export const UINT32_MAX = 4_294_967_295;
/** The market chain if neither CHAIN_ID nor the file names one. */
export const DEFAULT_CHAIN_ID = 369;
const DEFAULT_CONFIRMATIONS = 64;
const BLOCK_SECONDS_MIN = 0.01;
const BLOCK_SECONDS_MAX = 3_600;
/** Longest list in a description, because the program searches these lists linearly. */
const LIST_MAX = 500;
/**
 * Largest number of treasuries, and of lockers. Each count of a token's holders reads the balances of all of
 * them.
 */
const HELD_APART_MAX = 50;
const FEE_BPS_MAX = 10_000;
const SLUG = /^[a-z0-9][a-z0-9_-]{0,63}$/;

const address = z.string(ADDRESS_ALLOWED).transform((text, context): Hex => {
  const address = findAddress(text);
  if (address !== null) return address;
  context.addIssue({ code: 'custom', message: ADDRESS_ALLOWED });
  return z.NEVER;
});
/** The address of a contract. The zero address is refused, because it usually means that the address was
 * forgotten. */
const contract = address.refine(
  (foundAddress) => foundAddress !== ZERO_ADDRESS,
  `${ADDRESS_ALLOWED}, not the zero address`,
);

const integer = (min: number, max: number) => {
  const allowed = `an integer from ${min} to ${max}`;
  return z.int(allowed).min(min, allowed).max(max, allowed);
};
const text = (lengthMax: number) => {
  const allowed = `a text of 1 to ${lengthMax} characters`;
  return z.string(allowed).min(1, allowed).max(lengthMax, allowed);
};
const listOf = <T extends z.ZodType>(item: T, lengthMax = LIST_MAX) => {
  const allowed = `a list of at most ${lengthMax} items`;
  return z.array(item, allowed).max(lengthMax, allowed);
};
const url = (protocols: readonly string[]) => {
  const allowed = `a URL that begins with ${protocols.join(', ')}`;
  return z.string(allowed).refine((value) => hasProtocol(value, protocols), allowed);
};
function hasProtocol(value: string, protocols: readonly string[]): boolean {
  return URL.canParse(value) && protocols.includes(new URL(value).protocol);
}
const RPC_PROTOCOLS = ['http:', 'https:', 'ws:', 'wss:'];
const rpcUrl = z
  .string()
  .refine(
    (value) => readIpcPath(value) !== null || hasProtocol(value, RPC_PROTOCOLS),
    `a URL that begins with ${RPC_PROTOCOLS.join(', ')}, or ipc:///path`,
  );
const positiveAllowed = 'a number above 0';
const secondsAllowed = `a number from ${BLOCK_SECONDS_MIN} to ${BLOCK_SECONDS_MAX}`;
const shareAllowed = 'a number from 0 to 1';
const slugAllowed = 'at most 64 characters of a-z, 0-9, _ and -, beginning with a letter or digit';
/**
 * The database stores fees in pips (hundredths of a basis point), so more than two decimals would be lost.
 */
const feeBpsAllowed = `a number from 0 to ${FEE_BPS_MAX} with at most two decimals`;

const dex = z.strictObject(
  {
    name: z.string(slugAllowed).regex(SLUG, slugAllowed),
    displayName: text(64),
    protocol: z.enum([...PROTOCOLS.keys()], [...PROTOCOLS.keys()].join(', ')),
    factory: contract,
    feeBps: z
      .number(feeBpsAllowed)
      .min(0, feeBpsAllowed)
      .max(FEE_BPS_MAX, feeBpsAllowed)
      .multipleOf(0.01, feeBpsAllowed)
      .exactOptional(),
    protocolFeeShare: z.number(shareAllowed).min(0, shareAllowed).max(1, shareAllowed).exactOptional(),
    positionManager: contract.exactOptional(),
    startBlock: integer(0, UINT32_MAX).exactOptional(),
  },
  { error: issueOfObject('an object that describes a DEX') },
);

const anchor = z.strictObject(
  { address: contract, symbol: text(64), priceUsd: z.number(positiveAllowed).positive(positiveAllowed) },
  { error: issueOfObject('an object {address, symbol, priceUsd}') },
);

const burn = z.strictObject(
  { token: contract, addresses: listOf(address).min(1, 'a list of at least one address') },
  { error: issueOfObject('an object {token, addresses}, or null') },
);

const heldApart = z.strictObject(
  { address: contract, label: text(64), tokens: listOf(contract).exactOptional() },
  { error: issueOfObject('an object {address, label, tokens?}') },
);

const description = z.strictObject({
  chainId: integer(1, UINT32_MAX),
  name: text(64),
  nativeSymbol: text(64),
  wrappedNative: contract.nullable(),
  anchors: listOf(anchor),
  majors: listOf(contract).default([]),
  burn: burn.nullable().default(null),
  treasuries: listOf(heldApart, HELD_APART_MAX).exactOptional(),
  lockers: listOf(heldApart, HELD_APART_MAX).exactOptional(),
  bridgedTokens: listOf(contract).exactOptional(),
  forkBlock: integer(0, UINT32_MAX).exactOptional(),
  forkTokens: listOf(contract).exactOptional(),
  blockSeconds: z
    .number(secondsAllowed)
    .min(BLOCK_SECONDS_MIN, secondsAllowed)
    .max(BLOCK_SECONDS_MAX, secondsAllowed)
    .exactOptional(),
  confirmations: integer(0, 1_000_000).default(DEFAULT_CONFIRMATIONS),
  startBlock: integer(0, UINT32_MAX).nullable().default(null),
  rpcUrls: listOf(rpcUrl).default([]),
  logo: url(['http:', 'https:', 'data:']).exactOptional(),
  dexes: listOf(dex),
});

/**
 * Makes an error function for an object. Unknown keys keep zod's own text; any other error gets the text
 * `allowed`.
 */
function issueOfObject(allowed: string) {
  return (issue: { readonly code?: string | undefined }) =>
    issue.code === 'unrecognized_keys' ? undefined : allowed;
}

/** The settings of a chain's id and of its file, for messages. */
export interface SettingNames {
  readonly id: string;
  readonly file: string;
}

/**
 * Parses the text of a CHAIN_CONFIG file; `source` is its path, for messages. `chainId` is CHAIN_ID. If
 * CHAIN_ID is null, the file's chainId applies, or else 369. Each top-level key of the file replaces the key
 * of the chain's built-in description. Without a built-in description the file must be complete. Throws one
 * bad_config that names each wrong field.
 */
export function parseChainDescription(
  fileText: string,
  source: string,
  chainId: number | null,
  names: SettingNames = { id: 'CHAIN_ID', file: 'CHAIN_CONFIG' },
): ChainDescription {
  const badConfig = (problems: readonly string[]): AppError =>
    new AppError('bad_config', `${names.file} ${source}: ${problems.join('; ')}`);
  const file = parseObject(fileText);
  if (typeof file === 'string') throw badConfig([file]);
  const fileChainId = description.shape.chainId.safeParse(file['chainId']).data ?? null;
  const builtIn = findBuiltInChain(fileChainId ?? chainId ?? DEFAULT_CHAIN_ID);
  const mergedKeys: Readonly<Record<string, unknown>> = { ...builtIn, ...file };
  const result = description.safeParse(mergedKeys);
  const problems = result.success ? [] : describeIssues(result.error.issues, mergedKeys);
  problems.push(...listDuplicates(mergedKeys));
  if (chainId !== null && fileChainId !== null && fileChainId !== chainId) {
    problems.unshift(`chainId: got ${fileChainId}; allowed: ${chainId}, the value of ${names.id}`);
  }
  if (!result.success || problems.length > 0) throw badConfig(problems);
  return result.data;
}

/** Returns the object in the file, or a text that describes the error. */
function parseObject(fileText: string): Readonly<Record<string, unknown>> | string {
  const jsonText = fileText.replace(/^\uFEFF/, '');
  let value: unknown;
  try {
    value = JSON.parse(jsonText);
  } catch {
    const fault = findJsonFault(jsonText);
    return `not JSON${fault === null ? '' : `: expected ${fault.expected} at line ${fault.line}, column ${fault.column}`}`;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  return `got ${showValue(value)}; allowed: a JSON object`;
}

/**
 * Lists values that occur twice in a list whose values must differ. Checks the raw values of the file, so
 * that one message names all errors.
 */
function listDuplicates(merged: Readonly<Record<string, unknown>>): string[] {
  return [
    ...duplicatesIn('anchors', merged['anchors'], 'address'),
    ...duplicatesIn('majors', merged['majors'], null),
    ...duplicatesIn('treasuries', merged['treasuries'], 'address'),
    ...duplicatesIn('lockers', merged['lockers'], 'address'),
    ...duplicatesIn('dexes', merged['dexes'], 'name'),
    ...duplicatesIn('dexes', merged['dexes'], 'factory'),
  ];
}

function duplicatesIn(list: string, value: unknown, key: string | null): string[] {
  if (!Array.isArray(value)) return [];
  const pathOf = (index: number): string => [list, index, ...(key === null ? [] : [key])].join('.');
  const firstIndex = new Map<string, number>();
  return value.flatMap((item: unknown, index) => {
    const field: unknown =
      key === null ? item : typeof item === 'object' && item !== null ? Reflect.get(item, key) : null;
    if (typeof field !== 'string') return [];
    const firstOfValue = firstIndex.get(field.toLowerCase());
    if (firstOfValue === undefined) firstIndex.set(field.toLowerCase(), index);
    return firstOfValue === undefined
      ? []
      : [
          `${pathOf(index)}: got ${showValue(field)}; allowed: a value other than that of ${pathOf(firstOfValue)}`,
        ];
  });
}

/**
 * Returns one text per wrong field, such as `dexes.0.factory: got "0x12"; allowed: …`. The messages in the
 * zod schema must name the allowed values. `input` is the parsed value; the wrong values are taken from it.
 */
function describeIssues(issues: readonly core.$ZodIssue[], input: unknown): string[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => `${[...issue.path, key].join('.')}: unknown key`);
    }
    const name = issue.path.join('.');
    const gotText = showValue(valueAt(input, issue.path));
    return [`${name === '' ? 'file' : name}: got ${gotText}; allowed: ${issue.message}`];
  });
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

/**
 * Writes a JSON value for a message, shortened. Texts that may be URLs are cut to scheme and host, because
 * the rest may contain secrets.
 */
function showValue(value: unknown): string {
  const hideSecrets = (_key: string, nestedValue: unknown): unknown =>
    typeof nestedValue === 'string' && /[:/@]/.test(nestedValue) ? redactUrls(nestedValue) : nestedValue;
  return shorten(JSON.stringify(value, hideSecrets) ?? 'nothing');
}
