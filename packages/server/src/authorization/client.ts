/** Who asks a person for a grant. */
export type Client = {
  readonly id: string;
  /** What it calls itself; empty where it says nothing. Nobody has checked it. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** The host that its description was read from; undefined for one that registered itself, from anywhere. */
  readonly host: string | undefined;
};
