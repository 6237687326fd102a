"""Taking part, as admins steer it: the list of people, pauses, quotas, withdrawal and pay."""
