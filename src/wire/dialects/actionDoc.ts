/** An action of an endpoint whose parameters choose between actions, in the extension `x-actions` of OpenAPI. */
export interface ActionDoc {
  readonly module: string;
  readonly action: string;
  readonly description: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly required: boolean;
    readonly description: string;
  }[];
  /** `post` if the parameters are too long for a URL. */
  readonly method: 'get' | 'post';
}
