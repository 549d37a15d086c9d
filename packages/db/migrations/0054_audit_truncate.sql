-- A row's trigger does not hear of TRUNCATE, which removes all rows at once.
CREATE FUNCTION refuse_audit_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'the audit log is not emptied';
END
$$;
--> statement-breakpoint
CREATE TRIGGER audit_events_keep_all BEFORE TRUNCATE ON audit_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_truncate();
--> statement-breakpoint
CREATE TRIGGER audit_chains_keep_all BEFORE TRUNCATE ON audit_chains FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_truncate();
