/** Example code that verifies a delivery with the Standard Webhooks library. */
export const verifySnippet = `import { Webhook } from "standardwebhooks"; // npm install standardwebhooks

// body: the bytes of the request as they came, before anything parsed them
const event = new Webhook(process.env.SVC_SIGNING_SECRET).verify(body, headers); // throws when it does not verify`;
