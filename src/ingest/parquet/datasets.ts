/**
 * The three datasets that a backfill reads from Parquet files, with the columns that cryo writes:
 * https://github.com/paradigmxyz/cryo
 */
import { AppError } from '../../errors';

export const DATASET_NAMES = ['blocks', 'logs', 'transactions'] as const;
export type DatasetName = (typeof DATASET_NAMES)[number];

type ColumnKind = 'integer' | 'binary' | 'boolean';

interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
  /** Whether a file without this column can be read too. */
  readonly optional?: true;
  /** Name of the column in files of older versions of cryo. */
  readonly formerly?: string;
}

/** Columns of each dataset. The tables for staged rows have columns of the same names. */
const COLUMNS: Readonly<Record<DatasetName, readonly Column[]>> = {
  blocks: [
    { name: 'block_number', kind: 'integer' },
    { name: 'block_hash', kind: 'binary' },
    { name: 'parent_hash', kind: 'binary', optional: true },
    { name: 'timestamp', kind: 'integer' },
    { name: 'base_fee_per_gas', kind: 'integer', optional: true },
    { name: 'gas_used', kind: 'integer', optional: true },
    { name: 'logs_bloom', kind: 'binary', optional: true },
    { name: 'header', kind: 'binary', optional: true },
    { name: 'chain_id', kind: 'integer' },
  ],
  logs: [
    { name: 'block_number', kind: 'integer' },
    { name: 'log_index', kind: 'integer' },
    { name: 'transaction_index', kind: 'integer' },
    { name: 'transaction_hash', kind: 'binary' },
    { name: 'address', kind: 'binary', formerly: 'contract_address' },
    { name: 'topic0', kind: 'binary' },
    { name: 'topic1', kind: 'binary' },
    { name: 'topic2', kind: 'binary' },
    { name: 'topic3', kind: 'binary' },
    { name: 'data', kind: 'binary' },
    { name: 'chain_id', kind: 'integer' },
  ],
  transactions: [
    { name: 'block_number', kind: 'integer' },
    { name: 'transaction_index', kind: 'integer' },
    { name: 'transaction_hash', kind: 'binary' },
    { name: 'from_address', kind: 'binary' },
    { name: 'to_address', kind: 'binary' },
    { name: 'nonce', kind: 'integer' },
    { name: 'gas_used', kind: 'integer' },
    { name: 'gas_price', kind: 'integer' },
    { name: 'success', kind: 'boolean' },
    { name: 'transaction_type', kind: 'integer', optional: true },
    { name: 'signed_transaction', kind: 'binary', optional: true },
    { name: 'chain_id', kind: 'integer' },
  ],
};

/** Columns of the sorting key. A null in them is stored as NULL_KEY. */
const KEYS: ReadonlySet<string> = new Set(['block_number', 'log_index', 'transaction_index']);
const NULL_KEY = '18446744073709551615';
/** The table `logs` is not sorted by transaction_index. */
const isKey = (dataset: DatasetName, name: string): boolean =>
  KEYS.has(name) && !(dataset === 'logs' && name === 'transaction_index');

const PHYSICAL_TYPES: Readonly<Record<ColumnKind, readonly string[]>> = {
  integer: ['INT32', 'INT64'],
  binary: ['BYTE_ARRAY', 'FIXED_LEN_BYTE_ARRAY'],
  boolean: ['BOOLEAN'],
};
/** Logical types that change the meaning of a column: text in hex, decimals and times. */
const OTHER_MEANING = /^(String|Decimal|Timestamp|Date|Time|JSON|BSON|UUID|Enum|Float16|Interval)/i;

const TABLE_TYPES: Readonly<Record<ColumnKind, string>> = {
  integer: 'Nullable(UInt64)',
  binary: 'Nullable(String)',
  boolean: 'Nullable(Bool)',
};

/** A column as the footer of a file describes it. */
export interface FoundColumn {
  readonly name: string;
  readonly physical_type: string;
  readonly logical_type: string;
}

/** The columns to read from a file: name in the file by name in the table. */
export type ReadColumns = ReadonlyMap<string, string>;

/** The dataset that the columns belong to. @throws AppError `bad_config` */
export function findDataset(path: string, columns: readonly FoundColumn[]): DatasetName {
  const names = new Set(columns.map(({ name }) => name));
  if (names.has('log_index')) return 'logs';
  if (names.has('transaction_index')) return 'transactions';
  if (names.has('block_hash') && names.has('timestamp')) return 'blocks';
  const columnNames = columns.map(({ name }) => name).slice(0, 20);
  throw new AppError(
    'bad_config',
    `${path}: got the columns ${columnNames.join(', ') || '(none)'}; allowed: the columns of cryo's blocks, logs or transactions`,
  );
}

/** The columns of a file that has all columns of its dataset, under their names. */
export function allColumns(dataset: DatasetName): ReadColumns {
  return new Map(COLUMNS[dataset].map(({ name }) => [name, name]));
}

/** Checks that the file has the columns of its dataset, with their types. @throws AppError `bad_config` */
export function chooseColumns(
  path: string,
  dataset: DatasetName,
  columns: readonly FoundColumn[],
): ReadColumns {
  const columnByName = new Map(columns.map((column) => [column.name, column]));
  const chosenColumns = new Map<string, string>();
  for (const { name, kind, optional, formerly } of COLUMNS[dataset]) {
    const column = columnByName.get(name) ?? columnByName.get(formerly ?? name);
    if (column === undefined) {
      if (optional === true) continue;
      const allowed = COLUMNS[dataset].filter((one) => one.optional !== true).map((one) => one.name);
      throw new AppError(
        'bad_config',
        `${path}: the column ${name} is missing; a file of ${dataset} needs ${allowed.join(', ')}`,
      );
    }
    checkType(path, column, kind);
    chosenColumns.set(name, column.name);
  }
  return chosenColumns;
}

function checkType(path: string, column: FoundColumn, kind: ColumnKind): void {
  const { name, physical_type: physical, logical_type: logical } = column;
  if (PHYSICAL_TYPES[kind].includes(physical) && !OTHER_MEANING.test(logical)) return;
  const hint = kind === 'binary' ? ' (binary columns: run cryo without --hex)' : '';
  throw new AppError(
    'bad_config',
    `${path}: the column ${name} has the type ${physical} (${logical}); allowed: ${PHYSICAL_TYPES[kind].join(' or ')}${hint}`,
  );
}

/** The statement that stores a file's rows in the table of its dataset. The body of the request is the file. */
export function insertStatement(dataset: DatasetName, file: number, columns: ReadColumns): string {
  const presentColumns = COLUMNS[dataset].filter(({ name }) => columns.has(name));
  const nameInFile = (name: string): string => columns.get(name) ?? name;
  const structure = presentColumns
    .map(({ name, kind }) => `${nameInFile(name)} ${TABLE_TYPES[kind]}`)
    .join(', ');
  const values = presentColumns.map(({ name }) => {
    const value = nameInFile(name);
    return isKey(dataset, name) ? `ifNull(${value}, ${NULL_KEY})` : value;
  });
  const names = presentColumns.map(({ name }) => name).join(', ');
  return `INSERT INTO ${dataset} (file, ${names}) SELECT ${file}, ${values.join(', ')} FROM input('${structure}')
FORMAT Parquet`;
}
