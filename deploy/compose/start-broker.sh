#!/bin/sh
# Installs the shared Erlang cookie and the users from make_secrets.py where RabbitMQ expects them.
set -eu
mkdir -p /var/lib/rabbitmq /run/broker/conf.d
cp /etc/studio/rabbitmq.conf /run/broker/conf.d/10-studio.conf
# The first node has no peers, the others have the first. A node that waits for absent peers starts minutes late.
[ "$(hostname)" = rabbitmq-1 ] ||
    echo "cluster_formation.classic_config.nodes.2 = rabbit@$(hostname)" >> /run/broker/conf.d/10-studio.conf
cp /run/broker-config/definitions.json /run/broker/definitions.json
cp /run/broker-config/erlang.cookie /var/lib/rabbitmq/.erlang.cookie
chown -R rabbitmq:rabbitmq /var/lib/rabbitmq /run/broker
chmod 400 /var/lib/rabbitmq/.erlang.cookie /run/broker/definitions.json
exec docker-entrypoint.sh rabbitmq-server
