/**
 * Finds files of the project and of its npm packages, both from sources and from dist. Also reads contract bytecode.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { findPackageRoot } from '../clickhouse/client/packageRoot';
import { isHexData, type Hex } from '../domain/hex';
import { AppError } from '../errors';

/**
 * The path of a file in an installed package, such as `@uniswap/v2-core/build/UniswapV2Pair.json`; throws if
 * the file is missing.
 */
export function findPackageFile(specifier: string): string {
  return createRequire(join(findPackageRoot(), 'package.json')).resolve(specifier);
}

/** Creation code of an npm artifact. Uniswap's V2 builds omit the 0x. */
export function readPackageBytecode(specifier: string): Hex {
  return bytecodeOf(findPackageFile(specifier), 'bytecode');
}

/** Creation code of one of this project's contracts. */
export function readOwnBytecode(name: string): Hex {
  return bytecodeOf(ownContractPath(name), 'bytecode');
}

/** Runtime code of one of this project's contracts without a constructor. */
export function readOwnRuntimeBytecode(name: string): Hex {
  return bytecodeOf(ownContractPath(name), 'runtimeBytecode');
}

/** The folder of the project's own contracts. */
export function contractsFolder(): string {
  return join(findPackageRoot(), 'src', 'dev', 'contracts');
}

function ownContractPath(name: string): string {
  return join(contractsFolder(), `${name}.json`);
}

function bytecodeOf(file: string, key: string): Hex {
  const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const value = typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, key) : undefined;
  const code: unknown = typeof value === 'string' && !value.startsWith('0x') ? `0x${value}` : value;
  if (!isHexData(code) || code === '0x')
    throw new AppError('bad_config', `${file} has no bytecode in the key ${key}`);
  return code;
}
