import { type ContextKey, createContextKey } from "@connectrpc/connect";

/** Waits for a key that the store is asked for, in place of a plain `await`: for what is to be held back meanwhile. */
export type KeyLookupWait = <Found>(lookup: Promise<Found>) => Promise<Found>;

/** Where the HTTP layer leaves a call's KeyLookupWait for the gate. */
export const keyLookupContext: ContextKey<KeyLookupWait | undefined> = createContextKey<KeyLookupWait | undefined>(
  undefined,
  { description: "svc key lookup" },
);
