import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { type IngestEndpoint, TriggersService } from "@svc/gen/triggers";
import { useState } from "react";
import { useApproverWhy } from "../../calls/identity.ts";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { SecretMade } from "../../ui/overlay/secret-made.tsx";
import { Time } from "../../ui/values/time.tsx";
import { secretOverlaps } from "../../words/keys.ts";

/**
 * Draws the secrets that verify the webhook posts to a private toolkit (an app that the project defined itself), and the buttons that add
 * and delete them.
 */
export function WebhookSecrets({ endpoint: { toolkitSlug, projectId, secrets } }: { endpoint: IngestEndpoint }) {
  const [isAdding, setAdding] = useState(false);
  const [made, setMade] = useState("");
  const refresh = useRefresh(TriggersService);
  const why = useApproverWhy(projectId);
  const remove = useWrite(TriggersService.method.deleteWebhookSecret, { onSuccess: refresh });
  return (
    <>
      {secrets.length === 0 ? (
        <p>The webhook has no secret, so svc refuses every post. Add the secret with which the app signs.</p>
      ) : (
        <Items label={`Secrets of ${toolkitSlug}`}>
          {secrets.map(({ id, createdAt, endsAt }) => (
            <Item
              key={id}
              title={<code>{id}</code>}
              actions={
                <ConfirmButton
                  words="Delete"
                  title="Delete this secret?"
                  says={`svc refuses every post to ${toolkitSlug} that is signed with it, from now on.`}
                  confirm="Delete the secret"
                  busy="Deleting"
                  act={() => remove.sendAsync({ id })}
                  why={why}
                />
              }
            >
              Added <Time at={createdAt} />.{" "}
              {endsAt === undefined ? (
                "Never expires."
              ) : (
                <>
                  It ends <Time at={endsAt} />.
                </>
              )}
            </Item>
          ))}
        </Items>
      )}
      <Line>
        <Button icon="plus" why={why} onPress={() => setAdding(true)}>
          Add a secret
        </Button>
      </Line>
      {isAdding && (
        <WriteDialog
          method={TriggersService.method.putWebhookSecret}
          title={`Add a secret to ${toolkitSlug}`}
          fields={{
            value: {
              text: "Secret",
              type: "password",
              autoComplete: "new-password",
              mono: true,
              hint: "The secret that the app shows, 8 to 512 characters. If you leave it empty, svc generates one.",
            },
            overlap: {
              select: "The present secrets also verify posts for",
              options: secretOverlaps,
              hint: "Enter the new secret in the app before this time ends.",
              when: () => secrets.length > 0,
            },
          }}
          start={{ overlap: "86400" }}
          request={({ value, overlap }) => ({ toolkitSlug, value, overlap: durationFromMs(Number(overlap) * 1_000) })}
          placed={["value"]}
          act="Add the secret"
          busy="Adding"
          isSecret
          onClose={() => setAdding(false)}
          done={async ({ value }) => {
            setAdding(false);
            setMade(value);
            if (value === "") announce("The secret is added.");
            await refresh();
          }}
        />
      )}
      {made !== "" && (
        <SecretMade
          title="The new secret of the webhook"
          says="Enter it in the app as the secret of the webhook."
          what="secret"
          text={made}
          onClose={() => setMade("")}
        />
      )}
    </>
  );
}
