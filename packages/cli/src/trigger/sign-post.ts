import { createHmac } from "node:crypto";
import type { Webhook } from "@svc/catalog";

/** A post to an inbound path: what a provider would send. */
export type ProviderPost = { headers: Record<string, string>; query: Record<string, string>; body: Buffer };

/** The post with what its toolkit's scheme signs it by. `nowMs` is the time that slack_v0 signs. */
export function signPost(webhook: Webhook, post: ProviderPost, secret: string, nowMs: number): ProviderPost {
  switch (webhook.scheme) {
    case "hmac_sha256": {
      const signature = createHmac("sha256", secret).update(post.body).digest(webhook.encoding);
      return { ...post, headers: { ...post.headers, [webhook.header]: `${webhook.prefix}${signature}` } };
    }
    case "slack_v0": {
      const timestamp = String(Math.floor(nowMs / 1000));
      const signature = createHmac("sha256", secret).update(`v0:${timestamp}:`).update(post.body).digest("hex");
      const headers = { "x-slack-request-timestamp": timestamp, "x-slack-signature": `v0=${signature}` };
      return { ...post, headers: { ...post.headers, ...headers } };
    }
    case "token_query":
      return { ...post, query: { ...post.query, [webhook.parameter]: secret } };
  }
}
