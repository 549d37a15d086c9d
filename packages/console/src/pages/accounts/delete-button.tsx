import { createConnectQueryKey } from "@connectrpc/connect-query";
import { type ConnectedAccount, ConnectionsService } from "@svc/gen/connections";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { announce } from "../../ui/notice/announce.ts";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";

/** Deletes an account, after it was said what that means. The credential of the project itself is erased with its own call. */
export function DeleteButton({ account }: { account: ConnectedAccount }) {
  const [isAsked, setAsked] = useState(false);
  const queries = useQueryClient();
  const { deleteConnection, deleteProjectCredential } = ConnectionsService.method;
  const onSuccess = () => {
    setAsked(false);
    announce("The account is deleted.");
    return queries.invalidateQueries({
      queryKey: createConnectQueryKey({ schema: ConnectionsService, cardinality: undefined }),
    });
  };
  const ofEntity = useWrite(deleteConnection, { onSuccess });
  const ofProject = useWrite(deleteProjectCredential, { onSuccess });
  const isOwn = account.scheme === "client_credentials";
  const isSending = ofEntity.isSending || ofProject.isSending;
  const act = () => (isOwn ? ofProject.send({ toolkitSlug: account.toolkitSlug }) : ofEntity.send({ id: account.id }));
  return (
    <>
      <Button onPress={() => setAsked(true)}>Delete</Button>
      <Dialog
        open={isAsked}
        onClose={() => setAsked(false)}
        title={`Delete ${account.toolkitSlug} of ${account.entityId || "the project"}?`}
        actions={
          <>
            <Button onPress={() => setAsked(false)}>Keep it</Button>
            <Button kind="danger" onPress={act} busy={isSending ? "Deleting" : undefined}>
              Delete the account
            </Button>
          </>
        }
      >
        <p>
          Its credentials are erased and its references given back. Calls and jobs that use it are refused from then on.
        </p>
        <FaultNotice error={ofEntity.error ?? ofProject.error} />
      </Dialog>
    </>
  );
}
