import { Button } from "../ui/buttons/button.tsx";
import { Dialog } from "../ui/overlay/dialog.tsx";
import { useSignInNeed } from "./sign-in-need.ts";

/** Draws a dialog that asks the user whether to accept a sign-in link to another project. The dialog is shown over any page. */
export default function LinkOfferDialog({ onClose }: { onClose: () => void }) {
  const { linkOffer } = useSignInNeed();
  const project = linkOffer?.seat.projectName ?? "";
  return (
    <Dialog
      open={linkOffer !== undefined}
      onClose={onClose}
      title="Sign in to another project?"
      hideOnInteractOutside={false}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" onPress={() => void linkOffer?.take()}>{`Sign in to ${project}`}</Button>
        </>
      }
    >
      <p>
        The link signs this browser in to the project <b>{project}</b>, with the key <b>{linkOffer?.seat.keyName}</b>.
        If you cancel, the link still works for ten minutes.
      </p>
      <p>
        Continue only if you created the link or asked for it. Everything that you enter then belongs to that project.
      </p>
    </Dialog>
  );
}
