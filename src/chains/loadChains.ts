/** Finds the descriptions of the chains that the settings CHAINS, CHAIN_ID and CHAIN_CONFIG name. */
import { chainSlug, type ChainDescription } from '../domain/chainDescription';
import { AppError, errorText } from '../errors';
import { BUILT_IN_CHAINS, findBuiltInChain } from './builtIn/builtInChains';
import {
  DEFAULT_CHAIN_ID,
  parseChainDescription,
  UINT32_MAX,
  type SettingNames,
} from './parseChainDescription';

/** Largest number of chains of one process. Each chain costs memory and connections. */
export const CHAINS_MAX = 16;

/** A setting of one chain of CHAINS. */
export type ChainSetting = `${'RPC_URL' | 'CHAIN_CONFIG'}_${number}`;
type Given = Readonly<
  Partial<Record<'CHAINS' | 'CHAIN_ID' | 'CHAIN_CONFIG' | 'RPC_URL' | ChainSetting, string>>
>;

type ReadFile = (path: string) => string;

/**
 * The chains of the settings. With CHAINS, the chain of CHAIN_ID comes first. If a setting is wrong, the list is
 * incomplete, and `problems` names the faults.
 */
export function loadChains(given: Given, readFile: ReadFile, problems: string[]): ChainDescription[] {
  if (given.CHAINS === undefined) {
    const chain = loadChain(given, { id: 'CHAIN_ID', file: 'CHAIN_CONFIG' }, readFile, problems);
    return chain === null ? [] : [chain];
  }
  for (const name of ['RPC_URL', 'CHAIN_CONFIG'] as const)
    if (given[name] !== undefined) problems.push(`${name}: CHAINS is set; set ${name}_<chain id> instead`);
  // An invalid CHAINS is already reported.
  const chainIds = readChainIds(given.CHAINS) ?? [];
  const { CHAIN_ID: first } = given;
  if (first !== undefined && !chainIds.some((id) => String(id) === first))
    problems.push(`CHAIN_ID: got "${first}"; allowed: ${chainIds.join(', ')}, the chains of CHAINS`);
  const isFirst = (id: number): boolean => String(id) === first;
  const chains = [...chainIds.filter(isFirst), ...chainIds.filter((id) => !isFirst(id))].flatMap((id) => {
    const file = `CHAIN_CONFIG_${id}` as const;
    const ownSettings = { CHAIN_ID: String(id), CHAIN_CONFIG: given[file] };
    return loadChain(ownSettings, { id: 'CHAINS', file }, readFile, problems) ?? [];
  });
  for (const [index, chain] of chains.entries()) {
    const same = chains.slice(0, index).find((other) => chainSlug(other) === chainSlug(chain));
    if (same !== undefined)
      problems.push(`CHAINS: ${same.chainId} and ${chain.chainId} have the same name "${chain.name}"`);
  }
  return chains;
}

/** The ids of a comma list; null if an id is wrong or stands there twice. */
export function readChainIds(text: string): readonly number[] | null {
  const ids = text.split(',').flatMap((part) => readInteger(part.trim(), 1, UINT32_MAX) ?? []);
  const isValid = ids.length === text.split(',').length && new Set(ids).size === ids.length;
  return isValid && ids.length <= CHAINS_MAX ? ids : null;
}

/** The chain description. Null if the description is wrong. `names` are the settings that messages name. */
function loadChain(
  {
    CHAIN_ID: id,
    CHAIN_CONFIG: path,
  }: { readonly [name in 'CHAIN_ID' | 'CHAIN_CONFIG']?: string | undefined },
  names: SettingNames,
  readFile: ReadFile,
  problems: string[],
): ChainDescription | null {
  const chainId = readInteger(id ?? '', 1, UINT32_MAX);
  if (path !== undefined) return readChainFile(path, chainId, names, readFile, problems);
  // An invalid CHAIN_ID is already reported. Without it, the chain is unknown and its description cannot be
  // checked.
  if (id !== undefined && chainId === null) return null;
  const builtInChain = findBuiltInChain(chainId ?? DEFAULT_CHAIN_ID);
  if (builtInChain === null) {
    const builtInIds = BUILT_IN_CHAINS.map((chain) => chain.chainId).join(', ');
    problems.push(
      `${names.id}: got "${chainId}"; allowed: ${builtInIds}, or another chain with a complete ${names.file}`,
    );
  }
  return builtInChain;
}

function readChainFile(
  path: string,
  chainId: number | null,
  names: SettingNames,
  readFile: ReadFile,
  problems: string[],
): ChainDescription | null {
  try {
    return parseChainDescription(readText(path, names.file, readFile), path, chainId, names);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'bad_config') throw error;
    problems.push(error.message);
    return null;
  }
}

function readText(path: string, setting: string, readFile: ReadFile): string {
  try {
    return readFile(path);
  } catch (error) {
    throw new AppError('bad_config', `${setting} ${path}: the file cannot be read (${errorText(error)})`, {
      cause: error,
    });
  }
}

/** A decimal integer from `min` to `max`, else null. */
export function readInteger(text: string, min: number, max: number): number | null {
  if (!/^\d{1,10}$/.test(text)) return null;
  const value = Number(text);
  return value >= min && value <= max ? value : null;
}
