import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { announce } from "../../ui/announce.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FaultNotice } from "../../ui/fault.tsx";
import { TextField } from "../../ui/field.tsx";

/** Changes where a subscription's events are posted to. */
export function ChangeUrlDialog({
  subscription: { id, endpointUrl },
  onClose,
}: {
  subscription: Subscription;
  onClose: () => void;
}) {
  const [url, setUrl] = useState(endpointUrl);
  const queries = useQueryClient();
  const update = useWrite(TriggersService.method.updateSubscription, {
    onSuccess: async () => {
      announce("The address was changed.");
      onClose();
      await queries.invalidateQueries();
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title="Change address"
      hideOnInteractOutside={false}
      actions={
        <>
          <Button onPress={onClose}>Leave as it is</Button>
          <Button
            kind="primary"
            busy={update.isSending ? "Sending" : undefined}
            onPress={() => update.send({ id, endpointUrl: url.trim() })}
          >
            Change address
          </Button>
        </>
      }
    >
      <TextField
        label="Endpoint"
        type="url"
        mono
        value={url}
        onChange={setUrl}
        hint="What is pending and every later event goes there. The signing secret stays."
      />
      <FaultNotice error={update.error} />
    </Dialog>
  );
}
