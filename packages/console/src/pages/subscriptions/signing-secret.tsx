import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { useState } from "react";
import { useRefresh } from "../../calls/write.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { Button } from "../../ui/buttons/button.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { SecretMade } from "../../ui/overlay/secret-made.tsx";
import { Time } from "../../ui/values/time.tsx";
import { secretOverlaps } from "../../words/keys.ts";

/** Draws which secrets sign the deliveries of a subscription. `canReplace`: true if a button is shown that replaces the present secret. */
export function SigningSecret({
  subscription,
  canReplace = true,
}: {
  subscription: Subscription;
  canReplace?: boolean;
}) {
  const [isAsked, setAsked] = useState(false);
  const [made, setMade] = useState("");
  const { formerSecretUntil } = subscription;
  return (
    <Section
      title="Signing secret"
      actions={canReplace && <Button onPress={() => setAsked(true)}>Replace the secret</Button>}
    >
      <p>
        {formerSecretUntil === undefined ? (
          "One secret signs every delivery. It is never shown again."
        ) : (
          <>
            Two secrets sign every delivery. The former one ends <Time at={formerSecretUntil} />.
          </>
        )}
      </p>
      {isAsked && (
        <RotateDialog
          subscription={subscription}
          onClose={() => setAsked(false)}
          onDone={(secret) => {
            setAsked(false);
            setMade(secret);
          }}
        />
      )}
      {made !== "" && (
        <SecretMade
          title="The new signing secret"
          says="Keep it where your server reads it. Deliveries are signed with it from now on."
          what="secret"
          text={made}
          onClose={() => setMade("")}
        />
      )}
    </Section>
  );
}

function RotateDialog({
  subscription: { id },
  onClose,
  onDone,
}: {
  subscription: Subscription;
  onClose: () => void;
  /** Called after the signing secret was replaced, with the new secret. */
  onDone: (secret: string) => void;
}) {
  const refresh = useRefresh(TriggersService);
  return (
    <WriteDialog
      method={TriggersService.method.rotateSubscriptionSecret}
      title="Replace the signing secret"
      fields={{
        overlap: {
          select: "The former secret also signs for",
          options: secretOverlaps,
          hint: "Until then, each delivery is signed with both secrets. Your server can use either of them.",
        },
        secret: {
          text: "New secret",
          type: "password",
          autoComplete: "new-password",
          mono: true,
          hint: "whsec_, followed by 24 to 64 bytes in base64. If you leave it empty, a new one is generated.",
        },
      }}
      start={{ overlap: "86400" }}
      request={({ overlap, secret }) => ({
        id,
        secret: secret.trim(),
        overlap: durationFromMs(Number(overlap) * 1_000),
      })}
      placed={["secret"]}
      act="Replace it"
      isSecret
      onClose={onClose}
      done={async ({ signingSecret }) => {
        onDone(signingSecret);
        await refresh();
      }}
    />
  );
}
