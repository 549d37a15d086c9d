import type { TestServer } from "@svc/testing/server";
import type { Subscriber } from "@svc/testing/subscriber";
import type { Provider } from "../tools/provider.ts";

/** Answer of a call. `method`: `Service/Method`. */
export type Answered = { readonly method: string; readonly isOk: boolean; readonly text: string };

/** An answer, or a value inside it. */
// biome-ignore lint/suspicious/noExplicitAny: tests read whatever a call answers
export type Json = any;

/** The state of the scene while it is played. */
export type Playing = {
  readonly secrets: Record<string, string>;
  readonly words: Record<string, string>;
  readonly app: Provider;
  readonly server: TestServer;
  readonly answers: Answered[];
  readonly pages: string[];
  readonly receiver: Subscriber;
  /** Functions that release the answers which the app holds back. */
  readonly held: (() => void)[];
  /** Makes a call and keeps its answer, without the parts that return a secret on purpose. */
  call(method: string, body?: object, bearer?: string): Promise<Json>;
};
