/** Finds the messages of all log calls in a source file by its syntax tree. */
import { parseSync } from '@swc/core';

interface LogCall {
  readonly level: string;
  /** The messages that the call can log. The list is empty if the message is computed elsewhere. */
  readonly messages: readonly string[];
}

interface Node {
  readonly type?: string;
  readonly [field: string]: unknown;
}

const LEVELS: readonly unknown[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** All log calls of a TypeScript source, such as `this.log.warn({ error }, 'a message')`. */
export function listLogCalls(source: string): LogCall[] {
  const nodes = listNodes(parseSync(source, { syntax: 'typescript', target: 'es2022' }));
  return nodes.flatMap((node) => {
    const callee = node.type === 'CallExpression' ? (node['callee'] as Node) : {};
    const level = callee.type === 'MemberExpression' ? nameOf(callee['property']) : '';
    if (!LEVELS.includes(level) || !/^log(ger)?$/i.test(nameOf(callee['object']))) return [];
    const args = (node['arguments'] as readonly { readonly expression: Node }[]).map(
      ({ expression }) => expression,
    );
    return [{ level, messages: textsOf(args.at(-1) ?? {}, nodes) }];
  });
}

function listNodes(value: unknown): Node[] {
  if (typeof value !== 'object' || value === null) return [];
  return [...('type' in value ? [value as Node] : []), ...Object.values(value).flatMap(listNodes)];
}

/** The last name of an expression: `log` for `log`, `options.log` and `this.log`. */
function nameOf(value: unknown): string {
  const node = value as Node;
  if (node.type === 'MemberExpression') return nameOf(node['property']);
  return typeof node['value'] === 'string' ? node['value'] : '';
}

/**
 * The texts that an expression can have. For a name, these are the texts of all properties and constants with this
 * name in the file.
 */
function textsOf(node: Node, nodes: readonly Node[]): string[] {
  switch (node.type) {
    case 'StringLiteral':
      return [String(node['value'])];
    case 'ConditionalExpression':
      return [...textsOf(node['consequent'] as Node, nodes), ...textsOf(node['alternate'] as Node, nodes)];
    case 'Identifier':
      return nodes.flatMap((each) => {
        const [name, value] =
          each.type === 'VariableDeclarator' ? [each['id'], each['init']] : [each['key'], each['value']];
        const isNamed = typeof name === 'object' && name !== null && nameOf(name) === node['value'];
        return isNamed ? textsOf((value ?? {}) as Node, []) : [];
      });
    default:
      return [];
  }
}
