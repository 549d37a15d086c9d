import type { TestServer } from "@svc/testing/server";
import type { Subscriber } from "@svc/testing/subscriber";
import type { Provider } from "../tools/provider.ts";

/** What a call answered. `method` is `Service/Method`. */
export type Answered = { readonly method: string; readonly isOk: boolean; readonly text: string };

/** An answer, or what is in it. */
// biome-ignore lint/suspicious/noExplicitAny: tests read whatever a call answers
export type Json = any;

/** A scene under way. */
export type Playing = {
  readonly secrets: Record<string, string>;
  readonly words: Record<string, string>;
  readonly app: Provider;
  readonly server: TestServer;
  readonly answers: Answered[];
  readonly pages: string[];
  readonly receiver: Subscriber;
  /** Answers that the app holds back. */
  readonly held: (() => void)[];
  /** Makes a call and keeps its answer, but for what the call hands out. */
  call(method: string, body?: object, bearer?: string): Promise<Json>;
};
