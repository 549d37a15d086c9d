const shared = new WeakSet<object>();

/**
 * Marks a message that never changes and is sent many times, and returns it. Writers may then cache its text, also if the message is part
 * of another message.
 */
export function shareMessage<Message extends object>(message: Message): Message {
  shared.add(message);
  return message;
}

/** True if `shareMessage` marked this message. */
export function isShared(message: object): boolean {
  return shared.has(message);
}
