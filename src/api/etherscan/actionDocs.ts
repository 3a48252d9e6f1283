/** Descriptions of the actions of the Etherscan dialect, for the OpenAPI document and the page that shows it. */
import type { ActionDoc } from '../../wire/dialects/etherscan';

/** A row: module, action, parameters and description. A `*` marks a required parameter. */
type Row = readonly [module: string, action: string, parameters: string, description: string];

const PAGE_PARAMETERS = 'page offset';
const CALL_PARAMETERS = 'to* data from value gas gasPrice';

const ACTION_ROWS: readonly Row[] = [
  ['contract', 'getabi', 'address*', 'The ABI of a verified contract, as a JSON text.'],
  [
    'contract',
    'getsourcecode',
    'address*',
    'Sources, ABI, compiler and settings of a contract, and whether it is a proxy.',
  ],
  [
    'contract',
    'getcontractcreation',
    'contractaddresses*',
    'Creator, transaction and block of the creation of up to 10 contracts.',
  ],
  [
    'contract',
    'listcontracts',
    `filter ${PAGE_PARAMETERS}`,
    'The contracts of the chain, oldest first. This is an action of Blockscout.',
  ],
  [
    'contract',
    'verifysourcecode',
    'contractaddress* sourceCode* contractname* compilerversion* codeformat optimizationUsed runs evmversion constructorArguements licenseType',
    'Verifies the sources of a contract. The result is a ticket for checkverifystatus.',
  ],
  ['contract', 'checkverifystatus', 'guid*', 'The state of a verification: pending, passed or failed.'],
  [
    'contract',
    'verifyproxycontract',
    'address* expectedimplementation',
    'Looks for the implementation of a proxy. The result is a ticket for checkproxyverification.',
  ],
  [
    'contract',
    'checkproxyverification',
    'guid*',
    'The implementation of the proxy, or why it is not the expected one. Clients of Etherscan ask after an upgrade.',
  ],
  [
    'logs',
    'getlogs',
    `address fromBlock toBlock topic0 topic1 topic2 topic3 topic0_1_opr ${PAGE_PARAMETERS}`,
    'Logs of a contract or with certain topics, oldest first. An address or a topic is needed.',
  ],
  [
    'block',
    'getblocknobytime',
    'timestamp* closest',
    'Number of the newest block before a time, or of the oldest block after it.',
  ],
  ['block', 'getblockcountdown', 'blockno*', 'Number of blocks and estimated seconds until a future block.'],
  [
    'account',
    'balance',
    'address* tag',
    'Balance of the native coin in its smallest unit, read from the node at the newest block.',
  ],
  [
    'account',
    'balancemulti',
    'address* tag',
    'Balances of the native coin of up to 20 addresses, separated by commas.',
  ],
  ['account', 'tokenbalance', 'contractaddress* address*', 'Balance of one token in its smallest unit.'],
  [
    'account',
    'tokentx',
    `address contractaddress startblock endblock sort ${PAGE_PARAMETERS}`,
    'ERC-20 transfers of an address, of a token, or of both.',
  ],
  [
    'account',
    'tokennfttx',
    `address contractaddress startblock endblock sort ${PAGE_PARAMETERS}`,
    'ERC-721 transfers of an address, of a contract, or of both.',
  ],
  [
    'account',
    'token1155tx',
    `address contractaddress startblock endblock sort ${PAGE_PARAMETERS}`,
    'ERC-1155 transfers of an address, of a contract, or of both.',
  ],
  ['stats', 'tokensupply', 'contractaddress*', 'Total supply of a token in its smallest unit.'],
  ['stats', 'ethprice', '', 'Price of the native coin in USD, from the indexed pools.'],
  ['token', 'tokeninfo', 'contractaddress*', 'Name, symbol, decimals and total supply of a token.'],
  [
    'token',
    'tokenholderlist',
    `contractaddress* ${PAGE_PARAMETERS}`,
    'Holders of a token with their balances, largest first. The whole history of the token must be indexed.',
  ],
  [
    'token',
    'tokenholdercount',
    'contractaddress*',
    'Number of addresses that hold a token. The whole history of the token must be indexed.',
  ],
  ['transaction', 'gettxreceiptstatus', 'txhash*', 'Whether a transaction succeeded: 1 or 0.'],
  [
    'transaction',
    'getstatus',
    'txhash*',
    'Whether a transaction failed: isError is 1 or 0. The text of the error is not known.',
  ],
  ['gastracker', 'gasoracle', '', 'Slow, usual and fast gas prices in gwei, from the newest 20 blocks.'],
  [
    'gastracker',
    'gasestimate',
    'gasprice*',
    'Estimated seconds until a transaction with this gas price is included.',
  ],
  ['proxy', 'eth_blocknumber', '', 'Number of the newest indexed block.'],
  ['proxy', 'eth_call', `${CALL_PARAMETERS} tag`, 'Calls a function of a contract without a transaction.'],
  ['proxy', 'eth_getblockbynumber', 'tag boolean', 'One block, with its transactions if boolean is true.'],
  ['proxy', 'eth_getunclebyblocknumberandindex', 'tag index*', 'One uncle of a block.'],
  ['proxy', 'eth_getblocktransactioncountbynumber', 'tag', 'Number of transactions in a block.'],
  ['proxy', 'eth_gettransactionbyhash', 'txhash*', 'One transaction by its hash.'],
  [
    'proxy',
    'eth_gettransactionbyblocknumberandindex',
    'tag index*',
    'One transaction by its position in a block.',
  ],
  ['proxy', 'eth_gettransactioncount', 'address* tag', 'Number of transactions that an address has sent.'],
  ['proxy', 'eth_gettransactionreceipt', 'txhash*', 'The receipt of a transaction, with its logs.'],
  ['proxy', 'eth_getcode', 'address* tag', 'The code of a contract.'],
  ['proxy', 'eth_getstorageat', 'address* position* tag', 'One word of the storage of a contract.'],
  ['proxy', 'eth_gasprice', '', 'The gas price that the node proposes, in wei.'],
  ['proxy', 'eth_estimategas', CALL_PARAMETERS, 'The gas that a call would use.'],
];

const PARAMETER_TEXTS: Readonly<Record<string, string>> = {
  address: 'Address of the account or contract',
  blockno: 'Number of a future block',
  boolean: '`true` or `false` (default)',
  closest: '`before` (default) or `after`',
  codeformat: '`solidity-single-file` (default) or `solidity-standard-json-input`',
  compilerversion: 'Version of the compiler, such as v0.8.30+commit.73712a01',
  constructorArguements: 'ABI-encoded arguments of the constructor, in Etherscan’s spelling',
  contractaddress: 'Address of the token or contract',
  contractaddresses: 'Addresses, separated by commas',
  contractname: 'Name of the contract, with its path for standard JSON: src/A.sol:A',
  data: 'Selector and ABI-encoded arguments, as hex',
  endblock: 'Last block',
  evmversion: 'EVM version of the compilation; default: that of the compiler',
  expectedimplementation: 'Address of the implementation that the proxy should have',
  filter: '`verified` or `unverified`; default: all contracts',
  from: 'Sender of the call',
  fromBlock: 'First block: a number or a tag',
  gas: 'Gas limit of the call',
  gasPrice: 'Gas price of the call in wei',
  gasprice: 'Gas price in wei',
  guid: 'Ticket of the verification',
  index: 'Position in the block, from 0',
  licenseType: 'Etherscan’s number of the licence, 1 to 14',
  offset: 'Items per page',
  optimizationUsed: '1 if the optimizer was on, else 0 (default)',
  page: 'Page number, from 1',
  position: 'Position of the word in the storage',
  runs: 'Runs of the optimizer; default 200',
  sort: '`asc` (default) or `desc`',
  sourceCode: 'The source, or the standard JSON input of the compiler',
  startblock: 'First block',
  tag: 'Block number, or a tag such as `latest` (default)',
  timestamp: 'Time in unix seconds',
  to: 'Address of the called contract',
  toBlock: 'Last block: a number or a tag',
  topic0: 'First topic, usually the hash of the event’s signature',
  topic0_1_opr: '`and` or `or` between two topics; any pair of topics has such a parameter',
  topic1: 'Second topic',
  topic2: 'Third topic',
  topic3: 'Fourth topic',
  txhash: 'Hash of the transaction',
  value: 'Sent amount of the native coin in wei',
};

/** The descriptions of these actions. Throws if one has none, so that no action is served without a description. */
export function describeActions(
  servedActions: readonly (readonly [module: string, action: string])[],
): ActionDoc[] {
  return servedActions.map(([module, action]) => {
    const row = ACTION_ROWS.find(([rowModule, rowAction]) => rowModule === module && rowAction === action);
    if (row === undefined) throw new Error(`${module}.${action} has no description`);
    const [, , parameters, description] = row;
    return {
      module,
      action,
      description,
      parameters: parameters === '' ? [] : parameters.split(' ').map(describeParameter),
      method: action === 'verifysourcecode' || action === 'verifyproxycontract' ? 'post' : 'get',
    };
  });
}

/** The `*` of a required parameter is not part of its name. */
function describeParameter(text: string): ActionDoc['parameters'][number] {
  const name = text.replace('*', '');
  return { name, required: text !== name, description: PARAMETER_TEXTS[name] ?? '' };
}
