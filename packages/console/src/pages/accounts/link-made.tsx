import type { CreateConnectLinkResponse } from "@svc/gen/connections";
import { Notice } from "../../ui/notice/notice.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { Time } from "../../ui/values/time.tsx";

/** A link by which a person connects an account without a key, to be sent to them. It is shown once. */
export function LinkMade({ link: { url, expiresAt } }: { link: CreateConnectLinkResponse }) {
  return (
    <>
      <Notice tone="ok" title="Send this link to who is to connect">
        What they fill in goes to the vault, past you. It ends once the account is connected, and{" "}
        <Time at={expiresAt} />. It is not shown again.
      </Notice>
      <CodeBlock text={url} what="link" />
    </>
  );
}
